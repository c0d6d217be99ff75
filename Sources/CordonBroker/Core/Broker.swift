internal import CordonBase
internal import CordonIdentity
public import CordonProtocol
public import CordonSignIn
public import Foundation
public import Logging

/// The one owner of a shared device's account: its registration, its refresh tokens, and who may use them.
///
/// Apps reach it through ``BrokerServer``. It never hands out a refresh token or a private key. Every change of the account is
/// on disk before an app hears of it, so that an app that asks after an event never reads the old state (SI-062).
public actor Broker {
    /// The version of this program.
    public static let version = CordonRelease.version
    /// The newest version of the protocol.
    static let protocolVersion = 2
    /// The versions that are spoken: in the first, requests carry no nonce.
    static let protocolVersions = [1, 2]

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
    /// What connections were last told, until anything changes that an answer hangs on.
    nonisolated let repeated: RepeatedAnswers
    /// The digests of programs, for connecting apps and for administrators.
    nonisolated let digests = ProgramDigests()
    var keeper: StateKeeper { didSet { repeated.forgetAll() } }
    var connections = Connections()
    var attended = AttendedRequests()
    var departures = Departures()
    /// Sessions that have ended and that the disk did not let go, and whose tokens they have.
    var left: [UInt64: AccountID] = [:]
    /// Who signed in without a session, and whose tokens the disk did not let go.
    var strays: Set<AccountID> = []
    /// Sessions that have ended and whose secret the store let stand without a word, which keeps nobody from signing in.
    var standing: Set<UInt64> = []
    /// What apps were given in this session, for their clean-up after its end.
    var handed = HandedTokens() { didSet { repeated.forgetAll() } }
    var timer: SessionTimer
    /// Why the service has not taken the newest report; nil where it has.
    var reportFault: SignInFault? { didSet { repeated.forgetAll() } }
    /// What was last heard of the seat; nil for nothing yet.
    var seat: SeatEvent? { didSet { repeated.forgetAll() } }
    /// Where the system's settings lie.
    var systemSettings = URL(filePath: "/proc/sys")
    /// Whether programs of one user may read each other's memory, as it was at the start or when an administrator last asked.
    var memoryIsReadable: Bool { didSet { if memoryIsReadable != oldValue { repeated.forgetAll() } } }
    /// What an app was last told of the device; names no person.
    var writtenDevice: WrittenAnswer<DeviceInformation>?
    var refusals = ThrottledLog()
    private var writeFaults = ThrottledLog()
    var delivery: RecurringWork
    var reports: RecurringWork
    /// The sign-in about which the service was asked because a renewal was refused.
    var askedAbout: SessionID?

    /// Opens a broker: a session whose sign-out was interrupted is ended first.
    ///
    /// - Parameters:
    ///   - folder: Its own folder, closed to other users.
    ///   - secrets: Where keys are kept.
    ///   - transport: How to reach the provider and the service.
    ///   - environment: Clock and randomness; tests supply their own.
    ///   - user: The user it runs as.
    /// - Throws: ``ProgramError``.
    public init(
        _ configuration: BrokerConfiguration, folder: URL, secrets: any SecretStore, transport: any HTTPTransport,
        environment: SignInEnvironment = .system, user: UInt32 = getuid(), logger: Logger
    ) async throws(ProgramError) {
        self.configuration = configuration
        self.environment = environment
        self.logger = logger
        ownUser = user
        repeated = RepeatedAnswers(now: environment.now)
        memoryIsReadable = Self.letsProgramsReadMemory(by: systemSettings)
        delivery = RecurringWork(from: environment.now())
        reports = RecurringWork(from: environment.now())
        register = configuration.service.map {
            ServiceRegister(base: $0, transport: transport, now: environment.now)
        }
        do {
            try TokenStoreFile.makeFolder(folder)
            store = BrokerStore(folder: folder, secrets: secrets)
            client = try SignInClient(
                configuration: configuration.signIn, transport: transport,
                cache: TokenCache(directory: folder.appending(path: "tokens"), secrets: secrets),
                environment: environment)
            let (found, problem) = try store.load()
            keeper = StateKeeper(found, in: store)
            if let problem { logger.error("\(problem); no account is signed in and the device is not registered") }
            // A restart is no activity: a device that was idle before it is as idle after it.
            let began = found.account?.began ?? environment.now()
            let known = [began, found.account?.authenticated, found.activity, found.looked].compactMap(\.self)
            timer = SessionTimer(
                SessionTimer.Limits(configuration), lastActivity: found.activity ?? began, looked: known.max() ?? began)
            look()
            try await finishInterruptedWork(countingAnew: problem != nil || found.session == 0)
            // Before the policy is looked at, which may be the next organisation's.
            try await finishLeaving()
        } catch {
            throw ProgramError(
                error.code == .configuration ? .configurationInvalid : .fileUnusable, reason: error.reason,
                place: error.code == .configuration ? "the broker's configuration" : folder.path,
                hint: error.code == .storage
                    ? "The folder must have room and take changes. Below it may be nothing but the broker's own files; restore them, or join the device anew without it."
                    : error.hint)
        }
        let newest: Int?
        do { newest = [try store.policyVersion(), state.policyVersion].compactMap(\.self).max() } catch {
            throw ProgramError(.fileUnusable, reason: error.reason, place: folder.path, hint: error.hint)
        }
        try BrokerConfiguration.PolicyStamp.check(configuration.policy, for: state, newest: newest, place: folder.path)
        do {
            if let version = configuration.policy?.version {
                if try store.policyVersion() != version { try store.keep(policyVersion: version) }
                if version != state.policyVersion { try change { $0.policyVersion = version } }
            }
            try await followMode()
        } catch {
            throw ProgramError(.fileUnusable, reason: error.reason, place: folder.path, hint: error.hint)
        }
    }

    /// Ends a session that a crash left half ended, and sign-ins that never became the device's account.
    ///
    /// - Parameter countingAnew: Whether nothing says which numbers earlier sessions had.
    private func finishInterruptedWork(countingAnew: Bool) async throws(SignInError) {
        if let account = state.account {
            let isWhole = try store.hasSeed(session: account.session)
            let stored = try await storedAccount(account.facts.id)
            if isWhole, let stored {
                // Killed right after the same person signed in once more: the session goes on with the newer tokens. When
                // that was is not known; the sign-in before it was earlier, and no revocation since may be overlooked.
                if stored.session != account.facts.session {
                    try goOn(as: stored, authenticated: account.authenticated ?? account.began)
                } else {
                    // A disk that takes nothing may have taken no sign-out either: until it does, nobody is let in as this person.
                    var same = state
                    same.account?.clientID = configuration.signIn.clientID
                    try commit(same, telling: nil)
                }
            } else {
                _ = try store.destroySeed(session: account.session)
                // Before the state forgets whose it was: a file whose key is gone names no one. What stays opens nothing.
                _ = await client.retire(account.facts.id)
                if let clientID = account.clientID {
                    // Tokens that another client got are revoked in its name. What cannot be read now is destroyed below.
                    try? await client.retire(account.facts.id, of: clientID, at: account.facts.issuer)
                }
                let now = environment.now()
                try change { $0.endAccount(at: now, because: .interrupted, waiting: 0) }
            }
        }
        // A sign-in that was cut off before its session began leaves a secret that sealed nothing; a state that is lost leaves that of whoever
        // was signed in. A session that ended while its secret could not be destroyed has left it to this start: apps may have cleaned up
        // since, and another sign-in or a leave may have counted on. A secret that was let stand keeps nobody from signing in: more numbers are
        // looked at than one session takes, and one without a secret costs a look.
        let newest = try store.highestSession() ?? 0
        let last = countingAnew ? newest : state.session
        let ended = Set(state.apps.values.flatMap(\.owed).map(\.session)).union(max(32, last) - 32...last + 1)
        for session in ended where session != state.account?.session {
            if try !store.destroySeed(session: session) { noteStanding(session) }
        }
        // Neither a state that was not usable nor a new folder, in place of one that was removed, must begin with session numbers that
        // were used before: no device changes its account once a second. The clock may have been set back, so that the number that is kept
        // beside the state counts where it is there.
        if countingAnew {
            let number = max(UInt64(max(1, environment.now().timeIntervalSince1970)), newest)
            try change { $0.session = number }
        }
        for account in try await client.storedAccounts() where account != state.account?.facts.id {
            _ = try await client.retire(account).removal.get()
        }
        try await client.removeOthers()
    }

    /// A device without its key was leaving when its broker ended.
    private func finishLeaving() async throws(SignInError) {
        guard let facts = state.registration?.facts, try store.deviceKey(facts.keyThumbprint) == nil else { return }
        logger.notice("the device was leaving its organisation, or its key is lost")
        try await forgetRegistration()
    }

    /// A mode that was on and is turned off takes account, tokens and registration with it, so that turning it on again
    /// brings no account back (SI-019). A device that was only joined so far waits for the other parts (SI-017).
    private func followMode() async throws(SignInError) {
        if missing.isEmpty {
            guard state.wasShared != true else { return }
            return try change { $0.wasShared = true }
        }
        guard !isTurnedOn, state.wasShared == true || state.account != nil else { return }
        logger.notice("shared device mode was turned off", metadata: ["missing": "\(missing.map(\.rawValue))"])
        _ = await endSession(.released)
        // The register must not name the last person for ever; without a network an administrator releases the device.
        await reportWhenDue()
        try await forgetRegistration()
    }

    /// Whether the parts of the mode that an administrator sets are there.
    var isTurnedOn: Bool { configuration.profileSaysShared && configuration.managedConfigurationSaysShared }

    /// The account's session in the token cache; nil when it has ended, was damaged or is an old copy. One that cannot be
    /// read just now has not ended: to take it for that would destroy every app's data key.
    private func storedAccount(_ id: AccountID) async throws(SignInError) -> SignedInAccount? {
        do {
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
                "the device is not shared yet; still missing: \(missing.map(\.rawValue).joined(separator: ", "))",
                hint: missing == [.registration]
                    ? "Have an administrator run `cordon device join`."
                    : "`cordon device status` says what to do.")
        }
    }

    /// What the broker knows.
    var state: BrokerState { keeper.current }

    /// Writes the state, then tells; in this order, so that no app reads the old one after hearing (SI-062).
    func commit(_ changed: BrokerState, telling event: AccountEvent.Kind?) throws(SignInError) {
        try keeper.commit(changed)
        if let event { post(event) }
    }

    /// Changes and writes the state without telling.
    private func change(_ work: (inout BrokerState) -> Void) throws(SignInError) {
        var changed = state
        work(&changed)
        try keeper.commit(changed)
    }

    /// Writes what was changed lazily; done every second and at the end of the server.
    func flush() {
        // Touching the keeper forgets every kept answer.
        guard keeper.isUnsaved else { return }
        do { try keeper.flush() } catch {
            // A full disk may be the one that the log is on.
            guard writeFaults.isDue("state", now: environment.now()) else { return }
            logger.error("the state could not be written", metadata: ["fault": "\(error.fault.rawValue)"])
        }
    }

    /// Tells every subscribed app.
    func post(_ event: AccountEvent.Kind) {
        connections.post(
            AccountEvent(
                event, session: state.session,
                time: Date(timeIntervalSince1970: environment.now().timeIntervalSince1970.rounded(.down)),
                nonce: Base64URL.encode(environment.randomBytes(16))))
    }
}
