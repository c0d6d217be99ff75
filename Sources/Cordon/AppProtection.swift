internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonSignIn
internal import CordonVault
internal import Foundation
internal import Logging

/// An app's protection: the one object through which it enrols accounts, asks what is allowed, keeps the
/// organisation's files, and carries out a wipe.
///
/// Make one for each app and keep it. Linking Cordon does nothing; making this value reads stored state, verifies every
/// stored envelope again and finishes any wipe that a crash interrupted. Questions (``decision(for:)``) are answered
/// without waiting, from any thread; everything else runs on the actor. After a wipe the account is as if it had
/// never been enrolled.
public actor AppProtection {
    /// What the parts share.
    nonisolated let context: ProtectionContext
    /// What passes between this app and the organisation's others; nil where they share nothing.
    nonisolated let groupVault: GroupVault?
    /// What the windows are about to show.
    nonisolated let switches = Locked(WindowSwitches())
    nonisolated let denials = DenialLog()
    /// Whether work whose identity was lost has been noted.
    nonisolated let hasNotedLostWork = Locked(false)
    /// How often the device's management was asked, and which of these questions was answered last.
    var deviceAccountAsks = (begun: 0, answered: 0)
    let ledger: TelemetryLedger
    /// Whether the device's clock was found turned back.
    var wasTurnedBack = false
    /// Whether due work is under way.
    var isWorking = false
    /// Whether the person is asked, while requests for logs are being answered; nil while nobody answers any.
    var answeringLogs: Bool?
    /// The last of the remediations that wait for one another.
    var remediating: Task<RemediationResult?, Never>?
    /// The exchange in progress for each account; the next one waits for it, so that answers arrive in order.
    var exchanges: [AccountID: Task<Outcome, Never>] = [:]
    /// Who waits to make or remove a file of an account; an account in whose folder somebody does has an entry.
    var fileTurns: [AccountID: [CheckedContinuation<Void, Never>]] = [:]
    let pins: PINKeeper
    /// How each account's launch gate stands.
    nonisolated let gates = Locked<[AccountID: GateStanding]>([:])
    /// The ways through a gate that are being gone, and who waits for their end.
    var gateRuns: [AccountID: GateRun] = [:]
    var gateCallers = 0
    /// Whether the app has left the front, as it said.
    var isBehind = false
    /// The warnings that were seen since the start.
    var seenWarnings: [AccountID: Set<String>] = [:]
    var overrides = SettingOverrides()
    /// The look that the interface was given, and what it could not show of it.
    var adoptedTheme: ProtectionTheme?
    var refusedLook: [String] = []
    /// The parts that are told when an account changes, in the order in which a wipe goes through them.
    var followers: [any AccountFollower] { [self] }

    /// One executor for all parts, see ``ProtectionDomain``.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Opens an app's protection.
    ///
    /// - Throws: ``ProtectionError``: `invalidConfiguration` when the service's address or the root key's thumbprint cannot
    ///   be right, `stateUnwritable` or `vault` when the data folder cannot be used, `stateUnreadable` when it cannot be
    ///   told what is stored. A stored wipe that cannot be finished yet throws nothing:
    ///   its account stays closed.
    public init(_ configuration: ProtectionConfiguration) async throws(ProtectionError) {
        let configuration = configuration.followingSettings()
        try configuration.check()
        configuration.logFile?.follow(configuration.settings)
        if !configuration.settings.keepsSignInLogsApart { configuration.sessions.log(to: configuration.logger) }
        let folder = configuration.dataDirectory
        context = try ProtectionContext(configuration)
        ledger = TelemetryLedger(folder: try StateFolder(folder.appending(path: "telemetry")))
        pins = PINKeeper(
            folder: try StateFolder(configuration.pinDirectory ?? folder.appending(path: "pins")),
            keyStore: configuration.keyStore, clock: configuration.clock, cost: configuration.pinCost,
            observer: configuration.pinObserver)
        groupVault =
            if let group = configuration.sharingGroup { try GroupVault(group, directory: folder) } else { nil }
        try await start()
    }

    /// What happens from now on; see ``ProtectionEvent``. Any number of observers, each told of everything; the first one
    /// is also told of what happened at the start.
    public nonisolated func events() -> AsyncStream<ProtectionEvent> {
        broadcast.observe()
    }

    /// The accounts enrolled here (SDK-EN-26).
    public var enrolledAccounts: [ManagedAccount] {
        records.values.map(\.account).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    private func start() async throws(ProtectionError) {
        loadOverrides()
        tellRefusedSettings()
        switch try pending.load() {
        case .sound: break
        case .damaged: context.publishSetAside("what was to be tried again could not be read")
        case .newer: context.publishSetAside("what is to be tried again is from a newer version of the app")
        }
        clock.remember(pending.latestMoment)
        let lostWipes = try await resumeWipesAtStart()
        let stored = try accounts.load()
        if stored.damaged > 0 { context.publishSetAside("\(stored.damaged) stored registrations could not be read") }
        if stored.newer > 0 { context.publishSetAside("\(stored.newer) registrations are from a newer version of the app") }
        sealPlainState(stored)
        for record in stored.records where !accounts.isBeingWiped(record.account.id) {
            await restore(record, isNews: false)
            guard lostWipes > 0 else { continue }
            accounts.denyEverything(of: record)
            await publishRules(of: record.account.id)
        }
        try await applyDebugPolicies()
        recallDeviceAccount()
        noteClock()
        noteLaunch()
        resumeRemediations()
    }

    /// Puts a stored record in force again, or denies everything where it is not what the service signed; carries out a wipe
    /// that it commands, without waiting for it.
    ///
    /// - Parameter isNews: Whether observers are told of what it changes; see ``activate(_:of:isNews:)``.
    func restore(_ record: RegistrationRecord, isNews: Bool = true) async {
        let account = record.account.id
        accounts.put(record)
        var owedWipe: Command?
        do {
            let envelope = try verifiedAgain(record)
            if accounts.isRolledBack(record) {
                configuration.logger.error("stored state is older than what was in force")
                broadcast.post(.stateRolledBack(account: account))
                accounts.denyEverything(of: record)
            } else {
                await activate(envelope, of: record, isNews: isNews)
                owedWipe = envelope.commands.first { $0.kind == .wipe && isDue($0, for: record) }
            }
            // A stored wipe would have ended the registration: a crash or a failing disk kept it from beginning.
            if owedWipe == nil { try await open(account) } else { await close(record) }
        } catch let error as ProtocolError {
            context.publishSetAside("the stored rules are not what the service signed: \(error.reason)")
            accounts.denyEverything(of: record)
        } catch {
            context.publishSetAside("the account's key cannot be opened")
            accounts.denyEverything(of: record)
        }
        await publishRules(of: account)
        if let owedWipe { Task { await self.begin(owedWipe) } }
    }

    /// The stored envelope, its signature and receiver checked against the pinned root once more (SRV-CI-083).
    func verifiedAgain(_ record: RegistrationRecord) throws(ProtocolError) -> PolicyEnvelope {
        // Validity in time was checked when the set arrived; a device that is offline for long keeps its rules.
        let keys = try record.keys.verified(pin: configuration.rootKeyPin, at: .distantPast)
        return try record.envelope.verified(
            by: keys, for: record.receiver(bundleID: configuration.application.bundleID))
    }
}
