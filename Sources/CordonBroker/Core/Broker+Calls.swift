internal import CordonBase
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// Takes a connection in; the number names it from here on.
    func open(_ caller: BrokerCaller, send: @escaping @Sendable (BrokerMessage) -> Void) -> Int {
        connections.open(caller, send: send)
    }

    /// Forgets a connection and cancels what waited for its person.
    func close(_ peer: Int) {
        connections.close(peer)
        repeated.forget(peer)
        attended.cancelAll(of: peer)
        departures.checkAll(listening: connections.listening)
    }

    /// Answers a request; never fails, never stays silent (SI-073).
    func answer(_ request: IncomingRequest, from peer: Int) async -> BrokerMessage {
        guard let route = request.route, let work = request.work else {
            return refusal(
                SignInError(.brokerRefused, .unhandledError, "this broker does not know the verb"), of: request)
        }
        let context = RequestContext(
            key: RequestKey(peer: peer, id: request.head.id), correlationID: request.head.correlationID)
        do {
            try connections.checkNonce(request.head.nonce, of: peer, for: route.verb)
            guard route.verb.isAttended else { return try await work(self, context) }
            return try await attend(request, work, context, until: route.verb.deadline)
        } catch {
            return refusal(error, of: request)
        }
    }

    /// Answers a request at once; nil where that takes the disk or the network, and then nothing was done.
    ///
    /// - Parameter payload: What the request was read from.
    func quickAnswer(_ request: IncomingRequest, in payload: Data, from peer: Int) -> BrokerSession.Answered? {
        guard let route = request.route, let quick = request.quick else { return nil }
        let context = RequestContext(
            key: RequestKey(peer: peer, id: request.head.id), correlationID: request.head.correlationID)
        do {
            try connections.checkNonce(request.head.nonce, of: peer, for: route.verb)
            guard let found = try quick(self, context) else { return nil }
            let answered = BrokerSession.Answered(found.message)
            if let lasts = found.lasts, let frame = answered.frame {
                repeated.keep(frame, to: payload, request.head, of: peer, for: lasts)
            }
            return answered
        } catch {
            return BrokerSession.Answered(refusal(error, of: request))
        }
    }

    /// Ties an error to its request and writes it down, with the id that app and provider log too (SI-079).
    private func refusal(_ error: any Error, of request: IncomingRequest) -> BrokerMessage {
        var error =
            error as? SignInError ?? SignInError(.brokerRefused, .unhandledError, "the broker could not answer")
        error.details.correlationID = request.head.correlationID ?? error.details.correlationID
        var facts: Logger.Metadata = [
            "verb": "\(ThrottledLog.plain(request.head.verb))", "fault": "\(error.fault.rawValue)",
        ]
        if let id = error.details.correlationID { facts["correlation"] = "\(id.uuidString)" }
        logger.debug("refused", metadata: facts)
        return .failure(id: request.head.id, error)
    }

    /// Runs a request that a person takes part in, so that it can be cancelled.
    private func attend(
        _ request: IncomingRequest, _ work: @escaping BrokerRoute.Work, _ context: RequestContext,
        until deadline: Duration
    ) async throws -> BrokerMessage {
        _ = try connections.greeted(context.peer)
        try attended.requireFree(context.key)
        let task = Task {
            do { return try await work(self, context) } catch { return self.refusal(error, of: request) }
        }
        attended.begin(context.key, task)
        let limit = Task {
            try await self.environment.sleep(deadline)
            task.cancel()
        }
        defer { limit.cancel() }
        let answer = await task.value
        attended.finish(context.key)
        return answer
    }

    // MARK: Permissions

    func greet(_ call: HelloCall, _ request: RequestContext) throws(SignInError) -> BrokerGreeting {
        let known = try connections.stranger(request.peer)
        guard let version = Self.protocolVersions.filter({ call.versions?.contains($0) == true }).max() else {
            throw SignInError(
                .brokerRefused, .invalidRequest, "this broker speaks version \(Self.protocolVersion)",
                hint: "Update the app or the broker.")
        }
        guard call.singleAccount != false else {
            throw SignInError(
                .configuration, .invalidParameter, "an app that needs several accounts cannot work on a shared device")
        }
        guard let clientID = call.clientID, (1...256).contains(clientID.utf8.count),
            clientID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw SignInError(.configuration, .invalidParameter, "the client id is missing or malformed") }
        let rule = try rule(for: known.caller, clientID: clientID)
        // A request that a process wrote before it became the allowed program cannot hold what the broker says only now.
        guard version > 1 || rule == nil || rule?.group != nil || configuration.isDevelopment else {
            throw SignInError(
                .brokerRefused, .invalidRequest,
                "an app that is told by its program file must speak version \(Self.protocolVersion)",
                hint: "Update the app, or give it a group of its own in the broker's list.")
        }
        let nonce = version > 1 ? Base64URL.encode(environment.randomBytes(16)) : nil
        connections.greet(
            request.peer, as: AppIdentity(name: rule?.name ?? "administrator", clientID: clientID), allowedBy: rule,
            nonce: nonce)
        return BrokerGreeting(
            version: version, broker: Self.version, session: state.session,
            features: BrokerVerb.allCases.map(\.rawValue), nonce: nonce)
    }

    /// The entry that allows the program; nil for a local administrator, who is no app.
    private func rule(for caller: BrokerCaller, clientID: String) throws(SignInError) -> AllowedApp? {
        let found = configuration.apps.first {
            $0.means(caller) && $0.clientIDs.contains(clientID) && configuration.profileApps.permits($0.bundleID)
        }
        let isDeveloper = configuration.isDevelopment && caller.user == ownUser
        if let found, isDeveloper || !isLocalAdministrator(caller) { return found }
        if isDeveloper, configuration.apps.isEmpty {
            if state.apps.count < Self.mostDevelopmentApps {
                let name = caller.path.split(separator: "/").last.map(String.init) ?? caller.path
                return AllowedApp(name: ThrottledLog.plain(name), path: caller.path, clientIDs: [clientID])
            }
        } else if isLocalAdministrator(caller), !isDeveloper || !isListed(caller) {
            return nil
        }
        let path = ThrottledLog.plain(caller.path)
        let reason = caller.objection?.reason ?? reason(against: caller, clientID: clientID)
        if refusals.isDue("\(caller.user) \(path)", now: environment.now()) {
            logger.notice(
                "a program is not allowed",
                metadata: ["path": "\(path)", "user": "\(caller.user)", "reason": "\(reason)"])
        }
        throw SignInError(
            .brokerRefused, .brokerDenied,
            "this program is not allowed to use the broker with this client id: \(reason)")
    }

    /// Whether the list names the program, also where it does not fit its entry: it is to hear why, and not to be taken for an administrator.
    private func isListed(_ caller: BrokerCaller) -> Bool {
        configuration.apps.contains { $0.path == caller.path || $0.means(caller) }
    }

    /// Why no entry of the list means a program against which nothing else speaks.
    private func reason(against caller: BrokerCaller, clientID: String) -> String {
        if configuration.isDevelopment, configuration.apps.isEmpty, caller.user == ownUser {
            return "more than \(Self.mostDevelopmentApps) apps have come; begin with a new folder"
        }
        if let own = configuration.apps.first(where: { $0.means(caller) }) {
            return own.clientIDs.contains(clientID)
                ? "the profile's lists leave it out" : "the program's entry has another client id"
        }
        let here = configuration.apps.filter { $0.group == nil && $0.path == caller.path }
        if here.contains(where: { $0.label == nil || $0.label == caller.label }) {
            return "the program has not the digest of its entry"
        }
        if configuration.apps.contains(where: { $0.group != nil && $0.path == caller.path }) {
            return "the program does not run with the group of its entry"
        }
        if here.isEmpty, ListedPrograms.isOfFlatpak(caller.path) { return ProgramObjection.flatpak.reason }
        return here.isEmpty ? "no entry of the list fits" : "the program has not the security label of its entry"
    }

    /// Where every program is an app, one may come with ever new client ids.
    private static let mostDevelopmentApps = 1_000

    /// The system's administrator and the broker's own user may join and remove the device, and have no app's rights.
    func isLocalAdministrator(_ caller: BrokerCaller) -> Bool { caller.user == 0 || caller.user == ownUser }

    func subscribe(_ request: RequestContext) throws(SignInError) -> Done {
        _ = try connections.greeted(request.peer)
        connections.subscribe(request.peer)
        return Done()
    }

    func cancel(_ call: CancelCall, _ request: RequestContext) -> Done {
        if let id = call.request { attended.cancel(RequestKey(peer: request.peer, id: id)) }
        return Done()
    }

    func endPage(_ call: ReturnCall, _ request: RequestContext) -> Done {
        if let id = call.request {
            attended.endPage(RequestKey(peer: request.peer, id: id), at: call.url.flatMap { URL(string: $0) })
        }
        return Done()
    }
}
