internal import CordonBase
internal import CordonIdentity
public import CordonProtocol
internal import CordonSignIn
internal import Foundation

/// The organisation's service as this app reaches it: its description, and sessions to speak to it for an account.
public struct ServiceAccess: Sendable {
    private let context: ProtectionContext

    init(_ context: ProtectionContext) { self.context = context }

    private var configuration: ProtectionConfiguration { context.configuration }

    // MARK: What the service says of itself

    /// Makes sure, before a person types a password, that the configured address is the organisation's service: its
    /// description is complete, and the pinned root key signed its key set (SRV-CI-084).
    ///
    /// Call it before a sign-in that the app starts itself; ``AppProtection/signInAndEnroll(_:)`` and
    /// ``AppProtection/launch(_:)`` do so before theirs. Needs the network. The description itself carries no signature:
    /// TLS is what rules out a machine in between.
    ///
    /// - Returns: The service's description of itself.
    /// - Throws: ``ProtectionError``: `invalidConfiguration` when the service signs with another root key than the
    ///   configured one, `serviceUnusable` when no usable answer came.
    @discardableResult
    public func verify() async throws(ProtectionError) -> ServiceDiscovery {
        do { return try await verified() } catch {
            guard case .unacceptable(let reason) = error, reason.code == .unknownKey else {
                throw ProtectionError(.serviceUnusable, error.reason, hint: error.hint)
            }
            throw ProtectionError(
                .invalidConfiguration, error.reason, hint: "Compare the root key with the one that the service prints.")
        }
    }

    /// What the service says of itself, now or last time, after its key set was found to be signed by the pinned root key.
    func verified() async throws(ServiceFailure) -> ServiceDiscovery {
        let discovery = try await discovered()
        _ = try await verifiedKeys(of: discovery)
        return discovery
    }

    /// The key set that a service gives out, signed by the pinned root key and valid now.
    func verifiedKeys(of discovery: ServiceDiscovery) async throws(ServiceFailure) -> SignedKeySet {
        let keys = try await ServiceClient.keySet(of: discovery, over: configuration.transport)
        do {
            _ = try configuration.trusted(keys, at: configuration.clock.now())
        } catch { throw .unacceptable(error) }
        return keys
    }

    /// What the app's service says of itself, or said last time.
    func discovered() async throws(ServiceFailure) -> ServiceDiscovery {
        let memory = ServiceMemory(folder: context.stateFolder, seal: context.seal)
        return try await Self.discover(configuration.service, over: configuration.transport, in: memory)
    }

    /// What a service says of itself, or said last time.
    static func discover(
        _ service: URL, over transport: any HTTPTransport, in memory: ServiceMemory?
    ) async throws(ServiceFailure) -> ServiceDiscovery {
        memory?.noteAbsence(of: service)
        do {
            let discovery = try await ServiceClient.discover(at: service, over: transport)
            memory?.keep(discovery, of: service)
            return discovery
        } catch {
            guard let known = memory?.discovery(of: service) else { throw error }
            return known
        }
    }

    // MARK: Sessions

    /// What one exchange needs: a client that proves the account's key, and a token.
    struct Session: Sendable {
        let client: ServiceClient
        let token: String
    }

    /// The session of a check-in; where no person is signed in any more, one without a token, because a disabled account has
    /// none and is still told so, and what to wipe (SRV-TG-32). Then also why there is no token.
    func checkInSession(
        for account: AccountID, discovery: ServiceDiscovery
    ) async throws(ServiceFailure) -> (client: ServiceClient, token: String?, refusal: ServiceFailure?) {
        do throws(ServiceFailure) {
            let session = try await session(for: account, discovery: discovery)
            return (session.client, session.token, nil)
        } catch {
            guard case .signIn(let failure) = error, failure.code == .interactionRequired,
                case .success(let signer)? = await signer(for: account)
            else { throw error }
            return (client(signer, discovery: discovery), nil, error)
        }
    }

    /// The account's session; an app's own token source that does not answer in time counts as a service that does not.
    ///
    /// - Parameter enrolls: Whether the token is to take the app's key to the service: where it is bound to no key, a fresh
    ///   one is asked for.
    /// - Parameter isRenewed: Whether the token is to say of the last sign-in when it was, and not of one before.
    func session(
        for account: AccountID, discovery: ServiceDiscovery, enrolls: Bool = false, isRenewed: Bool = false
    ) async throws(ServiceFailure) -> Session {
        let answer = await answer { (sessions) async throws(SignInError) in
            let signer = try await sessions.signer(for: account)
            let token = try await Self.token(
                for: account, of: discovery, renewing: isRenewed || enrolls && discovery.proof == .registration,
                from: sessions)
            return (token, signer)
        }
        switch answer {
        case .success((let token, let signer)):
            var client = client(signer, discovery: discovery)
            client.sendsBearer = discovery.proof == .registration && !token.isBound
            return Session(client: client, token: token.text)
        case .failure(let error): throw .signIn(error)
        case nil: throw .transport(TransportError(.timedOut, reason: "no token was given in time"))
        }
    }

    private static func token(
        for account: AccountID, of discovery: ServiceDiscovery, renewing: Bool, from sessions: any AccountSessions
    ) async throws(SignInError) -> AccessToken {
        let asked = discovery.asked
        let resource = asked.resource ?? ""
        if renewing {
            do {
                return try await sessions.freshAccessToken(for: account, resource: resource, scopes: asked.scopes)
            } catch {
                // A session that cannot be renewed has the token of its sign-in, which may be fresh.
                guard error.code == .interactionRequired else { throw error }
            }
        }
        return try await sessions.accessToken(for: account, resource: resource, scopes: asked.scopes)
    }

    /// The account's key; nil when the app's session store did not answer in time.
    func signer(for account: AccountID) async -> Result<any MessageSigner, SignInError>? {
        await answer { (sessions) async throws(SignInError) in try await sessions.signer(for: account) }
    }

    /// What the app's session store answers; nil when it did not in time.
    private func answer<Value: Sendable>(
        _ ask: @escaping @Sendable (any AccountSessions) async throws(SignInError) -> Value
    ) async -> Result<Value, SignInError>? {
        await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) {
            [sessions = configuration.sessions] () async -> Result<Value, SignInError> in
            do throws(SignInError) { return .success(try await ask(sessions)) } catch { return .failure(error) }
        }
    }

    /// A client that signs with a key.
    func client(_ signer: any MessageSigner, discovery: ServiceDiscovery) -> ServiceClient {
        ServiceClient(
            discovery: discovery, transport: configuration.transport, signer: signer, now: configuration.clock.now)
    }

    // MARK: What the service is told of app and device

    /// The app as the service is told of it: managed where the device's management has given it the account, by sign-in name or
    /// object id (SRV-TG-06).
    func application(of account: ManagedAccount) -> ApplicationFacts {
        let isNamed = configuration.statedName?.lowercased() == account.userPrincipalName.lowercased()
        let isManaged =
            isNamed || context.accounts.deviceAccount.map { context.accounts.resolved($0) == account.id } ?? false
        var facts = configuration.application
        facts.management = isManaged ? .mdm : .unmanaged
        return facts
    }

    /// The tag that Cordon makes for an organisation on this device, where the app gives none: random, the same for all its
    /// accounts here, and kept with their registrations alone, so that it goes with the last one (SRV-CI-095).
    ///
    /// - Parameter known: The tag of a registration that goes on.
    func deviceTag(of account: ManagedAccount, known: String?) -> String? {
        guard configuration.device.tag.isEmpty else { return nil }
        let shared = context.accounts.records.values.first {
            $0.account.tenant == account.tenant && $0.deviceTag != nil
        }
        // By its tag the service ends a registration that it has not been told the end of yet.
        let owed = context.pending.unenrollments.first {
            $0.discovery.tenant == account.tenant && $0.deviceTag != nil
        }
        return known ?? shared?.deviceTag ?? owed?.deviceTag ?? UUID().uuidString.lowercased()
    }

    /// The device as the service is told of it.
    func device(tagged tag: String?) -> DeviceDescription {
        var device = configuration.device
        if let tag { device.tag = tag }
        // A registration of an older version of the app, whose tag the app gave, has none that is known here.
        if device.tag.isEmpty { device.tag = UUID().uuidString.lowercased() }
        return device
    }

    /// What the device finds wrong with itself, for the service.
    func health(for account: AccountID) async -> [CheckInRequest.DeviceHealth] {
        var found: [CheckInRequest.DeviceHealth] = []
        if await context.statedFacts(for: account).facts.rooted == true { found.append(.rootedDevice) }
        let signsAnswers = context.accounts[account]?.contact != nil
        if signsAnswers, !context.seal.counter.survivesRestore { found.append(.uncountedState) }
        return found
    }
}

extension ProtectionConfiguration {
    /// The keys under which a device's management names the account by its sign-in name, by the field's spelling and by
    /// Cordon's own.
    private static let nameKeys = ["IntuneMAMUPN", "CordonUserName"]

    /// The sign-in name that the device's management has given to the app.
    fileprivate var statedName: String? {
        Self.nameKeys.lazy.compactMap { managedConfiguration[$0]?.string }.first { !$0.isEmpty }
    }
}
