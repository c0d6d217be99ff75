internal import CordonIdentity
internal import CordonProtocol
public import CordonSignIn
public import Foundation
public import Logging

/// The one owner of a shared device's account: its registration, its refresh tokens, and who may use them.
///
/// Apps reach it through ``BrokerServer``. It never hands out a refresh token or a key. Every change of the account is
/// on disk before anybody hears of it, so that whoever asks after an event never reads the old state (SI-062).
public actor Broker {
    /// The version of this program.
    public static let version = CordonRelease.version
    /// The version of the protocol.
    static let protocolVersion = 1

    /// How the broker is set up.
    public nonisolated let configuration: BrokerConfiguration

    let client: SignInClient
    /// The service that keeps a register of shared devices; nil where there is none.
    let register: ServiceRegister?
    let store: BrokerStore
    let environment: SignInEnvironment
    let logger: Logger
    /// The user that the broker runs as.
    let ownUser: UInt32
    var state: BrokerState
    var isUnsaved = false
    var peers: [Int: Peer] = [:]
    var lastPeer = 0
    /// Requests that wait for a person, to be cancelled with their connection.
    var running: [RequestKey: Task<BrokerAnswer, Never>] = [:]
    var returns: [RequestKey: CheckedContinuation<URL?, any Error>] = [:]
    var departures: [UInt64: Departure] = [:]
    /// The newest token of each app and resource in this session, for its clean-up after the end.
    var handed: [Departure.Token] = []
    var lastActivity: Date
    /// Whether the screen is locked: then nothing counts as activity.
    var isLocked = false
    var warnedSession: UInt64?
    var quiet = QuietLog()
    var nextDelivery: Date
    var nextReport: Date
    var isReporting = false
    /// Whether a report was asked for while one was under way.
    var reportsAgain = false
    /// The sign-in about which the service was asked because a renewal was refused.
    var askedAbout: SessionID?
    var isDelivering = false

    /// One connection.
    struct Peer {
        let caller: BrokerCaller
        let send: @Sendable (BrokerAnswer) -> Void
        var app: AppIdentity?
        var rule: AllowedApp?
        var isSubscribed = false
    }

    /// One request of one connection.
    struct RequestKey: Hashable {
        let peer: Int
        let id: UInt32
    }

    /// Opens a broker: a session whose sign-out was interrupted is ended first.
    ///
    /// - Parameters:
    ///   - folder: Its own folder, closed to everybody else.
    ///   - secrets: Where keys are kept.
    ///   - transport: How to reach the provider and the service.
    ///   - environment: Clock and chance; a test gives its own.
    ///   - user: The user it runs as.
    /// - Throws: ``BrokerError``.
    public init(
        _ configuration: BrokerConfiguration, folder: URL, secrets: any SecretStore, transport: any HTTPTransport,
        environment: SignInEnvironment = .system, user: UInt32 = getuid(), logger: Logger
    ) async throws(BrokerError) {
        self.configuration = configuration
        self.environment = environment
        self.logger = logger
        ownUser = user
        lastActivity = environment.now()
        nextDelivery = environment.now()
        nextReport = environment.now()
        register = configuration.service.map {
            ServiceRegister(base: $0, transport: transport, now: environment.now)
        }
        do throws(SignInError) {
            try TokenStoreFile.makeFolder(folder)
            store = BrokerStore(folder: folder, secrets: secrets)
            client = try SignInClient(
                configuration: configuration.signIn, transport: transport,
                cache: TokenCache(directory: folder.appending(path: "tokens"), secrets: secrets),
                environment: environment)
            let (found, problem) = try store.load()
            state = found
            if let problem { logger.error("\(problem); nobody is signed in and the device is not registered") }
            // A restart is no activity: whoever left the device alone before it is as idle after it.
            lastActivity = min(lastActivity, state.activity ?? state.account?.began ?? lastActivity)
            try await finishInterruptedWork(forcing: problem != nil)
        } catch {
            throw BrokerError(
                error.code == .configuration ? .configuration : .storage, error.reason, place: folder.path,
                hint: error.hint)
        }
        try Self.check(configuration.policy, for: state, place: folder.path)
        do throws(SignInError) {
            if let version = configuration.policy?.version, version != state.policyVersion {
                state.policyVersion = version
                try store.save(state)
            }
            try await followMode()
        } catch {
            throw BrokerError(.storage, error.reason, place: folder.path, hint: error.hint)
        }
    }

    /// Ends a session that a crash left half ended, and sign-ins that never became the device's account.
    private func finishInterruptedWork(forcing: Bool) async throws(SignInError) {
        if let account = state.account {
            let isWhole = try store.hasSeed(session: account.session)
            let stored = try await storedAccount(account.facts.id)
            if isWhole, let stored {
                // Killed right after the same person signed in once more: the session goes on with the newer tokens. When
                // that was is not known; the sign-in before it was earlier, and no revocation since may be overlooked.
                if stored.session != account.facts.session {
                    try goOn(as: stored, authenticated: account.authenticated ?? account.began)
                }
            } else {
                _ = try store.destroySeed(session: account.session)
                state.endAccount(at: environment.now(), because: .interrupted, waiting: 0)
                try store.save(state)
            }
        }
        // A state that was not usable must not begin with session numbers that were used before.
        if forcing {
            state.session = UInt64(max(0, environment.now().timeIntervalSince1970))
            try store.save(state)
        }
        for account in try await client.storedAccounts() where account != state.account?.facts.id {
            _ = try await client.retire(account)
        }
    }

    /// A mode that was on and is turned off takes account, tokens and registration with it, so that turning it on again
    /// brings nobody back (SI-019). A device that was only joined so far waits for the other parts (SI-017).
    private func followMode() async throws(SignInError) {
        if missing.isEmpty {
            guard state.wasShared != true else { return }
            state.wasShared = true
            return try store.save(state)
        }
        guard !isTurnedOn, state.wasShared == true || state.account != nil else { return }
        logger.notice("shared device mode was turned off", metadata: ["missing": "\(missing.map(\.rawValue))"])
        _ = try await endSession(.released)
        // The register shall not name whoever was here for ever; without a network an administrator releases the device.
        await reportWhenDue()
        try await forgetRegistration()
    }

    /// Whether the parts of the mode that an administrator sets are there.
    var isTurnedOn: Bool { configuration.profileSaysShared && configuration.managedConfigurationSaysShared }

    /// The account's session in the token cache; nil when it has ended, was damaged or is an old copy. One that cannot be
    /// read just now has not ended: to take it for that would destroy every app's data key.
    private func storedAccount(_ id: AccountID) async throws(SignInError) -> SignedInAccount? {
        do throws(SignInError) {
            return try await client.account(id)
        } catch {
            guard error.fault == .storeDamaged || error.fault == .rolledBack else { throw error }
            return nil
        }
    }

    /// Whether every part of shared device mode is there (SI-018).
    var missing: [DeviceInformation.MissingPart] {
        var missing: [DeviceInformation.MissingPart] = []
        if !configuration.profileSaysShared { missing.append(.profile) }
        if !configuration.managedConfigurationSaysShared { missing.append(.managedConfiguration) }
        if state.registration == nil { missing.append(.registration) }
        return missing
    }

    /// Refuses what only a shared device does.
    func requireShared() throws(SignInError) {
        guard missing.isEmpty else {
            throw SignInError(
                .deviceNotShared, .notShared,
                "the device is not shared: missing are \(missing.map(\.rawValue).joined(separator: ", "))")
        }
    }

    /// Writes the state, then tells; in this order, so that nobody reads the old one after hearing (SI-062).
    func commit(_ changed: BrokerState, telling event: AccountEvent.Kind?) throws(SignInError) {
        try store.save(changed)
        state = changed
        isUnsaved = false
        if let event { post(event) }
    }

    /// Changes what does no harm if a crash forgets it: an app is then told once more of a change that it knows, or cleans
    /// up once more. A hundred apps that clean up at once would otherwise wait for the disk one after the other.
    func changeLazily(_ changed: BrokerState) {
        state = changed
        isUnsaved = true
    }

    /// Writes what ``changeLazily(_:)`` left; done every second and at the end of the server.
    func flush() {
        guard isUnsaved else { return }
        do throws(SignInError) { try commit(state, telling: nil) } catch {
            logger.error("the state could not be written", metadata: ["fault": "\(error.fault.rawValue)"])
        }
    }

    /// Tells every subscribed app.
    func post(_ event: AccountEvent.Kind) {
        var answer = BrokerAnswer()
        answer.event = BrokerAnswer.Event(event, session: state.session)
        for peer in peers.values where peer.isSubscribed { peer.send(answer) }
    }
}
