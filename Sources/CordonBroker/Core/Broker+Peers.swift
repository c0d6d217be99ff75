internal import CordonIdentity
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// Takes a connection in; the number names it from here on.
    func open(_ caller: BrokerCaller, send: @escaping @Sendable (BrokerAnswer) -> Void) -> Int {
        lastPeer += 1
        peers[lastPeer] = Peer(caller: caller, send: send)
        return lastPeer
    }

    /// Forgets a connection and cancels what waited for its person.
    func close(_ peer: Int) {
        peers[peer] = nil
        for (key, task) in running where key.peer == peer { task.cancel() }
        for session in departures.keys { checkDeparture(session) }
    }

    /// Answers a request; never fails, never stays silent (SI-073).
    func answer(_ request: BrokerRequest, from peer: Int) async -> BrokerAnswer {
        var answer: BrokerAnswer
        do throws(SignInError) {
            answer = try await perform(request, from: peer)
        } catch {
            answer = BrokerAnswer(id: request.id, noted(error, of: request))
        }
        answer.id = request.id
        return answer
    }

    /// Ties an error to its request and writes it down, with the id that app and provider log too (SI-079).
    private func noted(_ error: SignInError, of request: BrokerRequest) -> SignInError {
        var error = error
        error.details.correlationID = request.correlationID ?? error.details.correlationID
        var facts: Logger.Metadata = [
            "verb": "\(QuietLog.plain(request.verb))", "fault": "\(error.fault.rawValue)",
        ]
        if let id = error.details.correlationID { facts["correlation"] = "\(id.uuidString)" }
        logger.debug("refused", metadata: facts)
        return error
    }

    private func perform(_ request: BrokerRequest, from peer: Int) async throws(SignInError) -> BrokerAnswer {
        guard let verb = BrokerVerb(rawValue: request.verb) else {
            throw SignInError(.brokerRefused, .unhandledError, "this broker does not know the verb")
        }
        switch verb {
        case .hello: return try greet(request, peer)
        case .deviceInfo:
            _ = try greeted(peer)
            return deviceAnswer()
        case .accountCurrent: return try currentAccount(peer)
        case .accountList: return try accountList(peer)
        case .accountKey: return try accountKey(request, peer)
        case .accountActivity: return try noteActivity(peer)
        case .accountForget:
            _ = try app(peer)
            throw SignInError(
                .brokerRefused, .brokerDenied, "a shared device has one account for all apps",
                hint: "Sign out instead.")
        case .cleanUpReport: return try report(request, peer)
        case .eventsSubscribe: return try subscribe(peer)
        case .tokenSilent: return try await silentToken(request, peer)
        case .tokenKey: return try await sessionKey(request, peer)
        case .tokenProof: return try await proof(request, peer)
        case .tokenReturn: return giveBack(request, peer)
        case .tokenCancel: return cancel(request, peer)
        case .tokenInteractive, .tokenDevice, .deviceJoin, .deviceLeave, .accountSignOut:
            return try await attended(verb, request, peer)
        }
    }

    /// Runs a request that a person takes part in, so that it can be cancelled.
    private func attended(
        _ verb: BrokerVerb, _ request: BrokerRequest, _ peer: Int
    ) async throws(SignInError) -> BrokerAnswer {
        _ = try greeted(peer)
        let key = RequestKey(peer: peer, id: request.id)
        guard running[key] == nil else {
            throw SignInError(.configuration, .invalidRequest, "a request of this id is under way")
        }
        let task = Task {
            do throws(SignInError) {
                switch verb {
                case .tokenInteractive: return try await self.signIn(request, key)
                case .tokenDevice: return try await self.signInElsewhere(request, key)
                case .deviceJoin: return try await self.join(request, key)
                case .deviceLeave: return try await self.leave(request, key)
                default: return try await self.signOut(request, key)
                }
            } catch {
                return BrokerAnswer(id: request.id, self.noted(error, of: request))
            }
        }
        running[key] = task
        let limit = Task {
            try await self.environment.sleep(verb.deadline)
            task.cancel()
        }
        defer { limit.cancel() }
        let answer = await task.value
        running[key] = nil
        return answer
    }

    // MARK: Who may what

    private func greet(_ request: BrokerRequest, _ peer: Int) throws(SignInError) -> BrokerAnswer {
        guard let known = peers[peer], known.app == nil else {
            throw SignInError(.configuration, .invalidRequest, "hello comes once, and first")
        }
        guard request.versions?.contains(Self.protocolVersion) == true else {
            throw SignInError(
                .brokerRefused, .invalidRequest, "this broker speaks version \(Self.protocolVersion) only",
                hint: "Update the app or the broker.")
        }
        guard request.singleAccount != false else {
            throw SignInError(
                .configuration, .invalidParameter, "an app that needs several accounts cannot work on a shared device")
        }
        guard let clientID = request.clientID, (1...256).contains(clientID.utf8.count),
            clientID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw SignInError(.configuration, .invalidParameter, "the client id is missing or malformed") }
        let rule = try rule(for: known.caller, clientID: clientID)
        peers[peer]?.rule = rule
        peers[peer]?.app = AppIdentity(name: rule?.name ?? "administrator", clientID: clientID)
        var answer = BrokerAnswer(id: request.id)
        answer.hello = BrokerAnswer.Greeting(
            version: Self.protocolVersion, broker: Self.version, session: state.session,
            features: BrokerVerb.allCases.map(\.rawValue))
        return answer
    }

    /// The entry that allows the program; nil for a local administrator, who is no app.
    private func rule(for caller: BrokerCaller, clientID: String) throws(SignInError) -> AllowedApp? {
        let found = configuration.apps.first {
            caller.objection == nil && $0.path == caller.path
                && ($0.sha256 == nil || $0.sha256?.lowercased() == caller.digest)
                && $0.clientIDs.contains(clientID) && configuration.profileApps.permits($0.bundleID)
        }
        if configuration.isDevelopment, caller.user == ownUser {
            if let found { return found }
            if configuration.apps.isEmpty, state.apps.count < Self.mostDevelopmentApps {
                let name = caller.path.split(separator: "/").last.map(String.init) ?? caller.path
                return AllowedApp(name: QuietLog.plain(name), path: caller.path, clientIDs: [clientID])
            }
        } else if isLocalAdministrator(caller) {
            return nil
        } else if let found {
            return found
        }
        let path = QuietLog.plain(caller.path)
        let reason = caller.objection?.reason ?? "no entry of the list fits"
        if quiet.isDue("\(caller.user) \(path)", now: environment.now()) {
            logger.notice(
                "a program is not allowed",
                metadata: ["path": "\(path)", "user": "\(caller.user)", "reason": "\(reason)"])
        }
        throw SignInError(
            .brokerRefused, .brokerDenied,
            "this program is not allowed to use the broker with this client id: \(reason)")
    }

    /// Where every program is an app, somebody may come with ever new client ids.
    private static let mostDevelopmentApps = 1_000

    /// The system's administrator and the broker's own user may join and remove the device, and have no app's rights.
    func isLocalAdministrator(_ caller: BrokerCaller) -> Bool { caller.user == 0 || caller.user == ownUser }

    func greeted(_ peer: Int) throws(SignInError) -> Peer {
        guard let known = peers[peer], known.app != nil else {
            throw SignInError(.brokerRefused, .invalidRequest, "the first request must be hello")
        }
        return known
    }

    /// The app behind a connection.
    func app(_ peer: Int) throws(SignInError) -> (identity: AppIdentity, rule: AllowedApp) {
        let known = try greeted(peer)
        guard let identity = known.app, let rule = known.rule else {
            throw SignInError(.brokerRefused, .brokerDenied, "an administrator has no app's rights")
        }
        return (identity, rule)
    }

    private func subscribe(_ peer: Int) throws(SignInError) -> BrokerAnswer {
        _ = try greeted(peer)
        peers[peer]?.isSubscribed = true
        return BrokerAnswer()
    }

    private func cancel(_ request: BrokerRequest, _ peer: Int) -> BrokerAnswer {
        if let id = request.request { running[RequestKey(peer: peer, id: id)]?.cancel() }
        return BrokerAnswer()
    }
}
