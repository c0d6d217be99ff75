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
    nonisolated let denials = DenialLog()
    /// The rules in force, for any question about them.
    public nonisolated let rules: EnforcedRules
    /// The launch gates, and the PIN.
    public nonisolated let gate: LaunchGates
    /// Whose data each window shows.
    public nonisolated let windows: WindowIdentities
    /// The organisation's files.
    public nonisolated let files: AccountFiles
    /// The ways out, and the ways in.
    public nonisolated let outlets: EgressOutlets
    /// The pins of the organisation's hosts.
    public nonisolated let pinning: CertificatePinning
    /// What helps to find out why something is denied.
    public nonisolated let diagnostics: ProtectionDiagnostics
    /// The settings in force, and how they are changed while the app runs.
    public nonisolated let settings: RuntimeSettings
    let group: SharedGroup
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
        let pins = PINKeeper(
            folder: try StateFolder(configuration.pinDirectory ?? folder.appending(path: "pins")),
            keyStore: configuration.keyStore, clock: configuration.clock, cost: configuration.pinCost,
            observer: configuration.pinObserver)
        let gates = GateStates(context)
        let screens = InterfaceScreens(context)
        rules = EnforcedRules(context, gates: gates, denials: denials)
        let tools = LaunchTools(
            context: context, rules: rules, gates: gates,
            conditions: LaunchConditions(context, rules: rules, gates: gates, pins: pins), screens: screens, pins: pins)
        let requests = IdentityRequests(context, gates: gates)
        gate = LaunchGates(tools, requests: requests)
        windows = WindowIdentities(tools, gate: gate, requests: requests)
        files = AccountFiles(context, rules: rules)
        group = try SharedGroup(context, rules: rules)
        outlets = EgressOutlets(context, rules: rules, group: group)
        pinning = CertificatePinning(rules)
        diagnostics = ProtectionDiagnostics(context, rules: rules, denials: denials)
        settings = RuntimeSettings(context, screens: screens)
        await gate.connect(
            LaunchRemedies(
                recordClock: { [weak self] in await self?.noteClock() },
                checkIn: { [weak self] in await self?.checkIn($0) ?? .internalError },
                wipe: { [weak self] (account, cause) async throws(ProtectionError) in
                    try await self?.wipe(account, because: cause)
                }))
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

    // MARK: What is allowed

    /// The answer to a question under the rules in force, with every reason; any thread, no waiting.
    ///
    /// Cordon fills in what it knows itself (the time since the last check-in); what a rule needs and nobody knows denies.
    public nonisolated func decision(for question: Question) -> PolicyDecision { rules.decision(for: question) }

    /// Asks whether something may leave, and gets the permit for doing it once; see ``EnforcedRules/permit(for:)``. Any thread, no
    /// waiting.
    ///
    /// - Throws: ``EgressDenied`` with every reason when the verdict is to block or to wipe.
    public nonisolated func permit(for question: Question) throws(EgressDenied) -> EgressPermit {
        try rules.permit(for: question)
    }

    // MARK: The app starts, leaves the front, comes back

    /// Passes the gate at the start of the app, before anything of an account is shown (SDK-CL-01, CL-02, CL-05).
    ///
    /// - Parameter account: Whose data is to be shown. Nil in an app that holds several accounts checks nothing yet; in one
    ///   that holds a single account it is that one. Without any account the settings ``ProtectionSettings/requiresPolicy``
    ///   and ``ProtectionSettings/warnsWithoutPolicy`` decide.
    /// - Returns: Whether the data may be shown, with every reason; also posted as ``ProtectionEvent/gate(account:_:)``.
    @discardableResult
    public func launch(_ account: AccountID? = nil) async -> LaunchOutcome {
        // Delegates are part of the configuration, and so cannot be late (SDK-CO-10).
        if !context.events.wasEverObserved, !context.pending.isStartDone {
            configuration.logger.warning("nobody observes events yet: call events() before launch(_:)")
        }
        await enrollAtLaunch()
        return await gate.passFirst(account, on: .launch)
    }

    /// Passes the gate when the app comes back to the front; asks nothing while the last look is recent enough.
    @discardableResult
    public func resume(_ account: AccountID? = nil) async -> LaunchOutcome {
        followDeviceAccount()
        return await gate.passFirst(account, on: .resume)
    }

    /// The app leaves the front: every gate closes until ``resume(_:)``, and the time away counts from here (SDK-CL-03). A
    /// gate that is being passed meanwhile opens only if the app is in front again by then.
    public func suspend() async { await gate.suspend() }

    // MARK: Starting

    private func start() async throws(ProtectionError) {
        await settings.load()
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
        try await DebugPolicies.activate(in: context, opening: files)
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
