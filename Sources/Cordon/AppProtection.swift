internal import CordonBase
public import CordonIdentity
public import CordonPolicy
internal import Foundation
internal import Logging

/// An app's protection: the one object through which it enrols accounts, asks what is allowed, keeps the
/// organisation's files, and carries out a wipe.
///
/// Make one per app and keep it. Linking Cordon does nothing; creating this object reads stored state, verifies every
/// stored envelope again and finishes any wipe that a crash interrupted. Questions (``decision(for:)``) are answered
/// at once, on any thread; everything else runs on the actor. After a wipe the account is as if it had
/// never been enrolled.
///
/// ```swift
/// let protection = try await AppProtection(configuration)
/// await protection.enroll(account)
/// guard await protection.launch(account.id).isOpen else { return }
/// try await protection.files.write(report, as: "report.txt", of: account.id)
/// ```
///
/// The calls that every app needs are on this type; the others are on its parts, such as ``files``, ``outlets`` and
/// ``windows``.
public actor AppProtection {
    /// The rules in force, and every question about them.
    public nonisolated let rules: EnforcedRules
    /// The launch gates, and the PIN behind them.
    public nonisolated let gate: LaunchGates
    /// Whose data each window shows.
    public nonisolated let windows: WindowIdentities
    /// The organisation's files.
    public nonisolated let files: AccountFiles
    /// The ways out of the app, and the ways into it.
    public nonisolated let outlets: EgressOutlets
    /// The pins of the organisation's hosts.
    public nonisolated let pinning: CertificatePinning
    /// The accounts that the app has registered, those it may hold, and the one the device is enrolled for.
    public nonisolated let enrollments: Enrollments
    /// What to do when a token is refused because the account is not protected yet.
    public nonisolated let remediations: Remediations
    /// The organisation's service, and the check that it is the organisation's.
    public nonisolated let service: ServiceAccess
    /// The settings in force, which may change while the app runs.
    public nonisolated let settings: RuntimeSettings
    /// What telemetry sends, and whether it sends anything.
    public nonisolated let telemetry: TelemetryReports
    /// The logs that administrators ask for.
    public nonisolated let logs: LogRequests
    /// Reports that explain why something is denied.
    public nonisolated let diagnostics: ProtectionDiagnostics

    nonisolated let context: ProtectionContext
    nonisolated let wipes: Wipes
    nonisolated let registrations: Registrations
    nonisolated let checkIns: CheckIns
    nonisolated let unenrollments: Unenrollments
    nonisolated let dueWork: DueWork

    /// The executor that all parts share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Opens an app's protection.
    ///
    /// - Throws: ``ProtectionError``: `invalidConfiguration` when the service's address or the root key's thumbprint cannot
    ///   be right, `stateUnwritable` or `vault` when the data folder cannot be used, `stateUnreadable` when stored state
    ///   cannot be read. A wipe that cannot be finished yet is no error: its account stays closed.
    public init(_ configuration: ProtectionConfiguration) async throws(ProtectionError) {
        TextLanguage.follow(configuration.language)
        let configuration = configuration.followingSettings()
        try configuration.check()
        configuration.logFile?.follow(configuration.settings)
        if !configuration.settings.keepsSignInLogsApart { configuration.sessions.log(to: configuration.logger) }
        let context = try ProtectionContext(configuration)
        self.context = context
        let gates = GateStates(context)
        let rules = EnforcedRules(context, gates: gates)
        let tools = try LaunchTools(context, rules: rules, gates: gates)
        let (requests, group) = (IdentityRequests(context, gates: gates), try SharedGroup(context, rules: rules))
        let ledger = try TelemetryLedger(context)
        self.rules = rules
        gate = LaunchGates(tools, requests: requests)
        windows = WindowIdentities(tools, gate: gate, requests: requests)
        files = AccountFiles(context, rules: rules, guards: tools.guards)
        outlets = EgressOutlets(context, rules: rules, group: group, files: files, screens: tools.screens)
        pinning = CertificatePinning(rules)
        settings = RuntimeSettings(context, screens: tools.screens)
        service = ServiceAccess(context)
        telemetry = TelemetryReports(context, service: service, ledger: ledger)
        diagnostics = ProtectionDiagnostics(context, rules: rules)
        logs = LogRequests(context, service: service, diagnostics: diagnostics, ledger: ledger)
        let evidence = EvidenceReports(context, service: service)
        let changes = AccountChanges(context, followers: [group, gate, settings, files, telemetry, logs, evidence])
        wipes = Wipes(context, service: service, changes: changes)
        let commands = Commands(context, service: service, changes: changes)
        let stored = StoredAccounts(context, changes: changes, wipes: wipes, pins: tools.pins, commands: commands)
        registrations = Registrations(
            context, service: service, changes: changes, stored: stored, wipes: wipes, commands: commands)
        checkIns = CheckIns(
            context, service: service, changes: changes, stored: stored, registrations: registrations)
        enrollments = Enrollments(
            context, service: service, stored: stored, wipes: wipes, registrations: registrations)
        unenrollments = Unenrollments(context, service: service, changes: changes, stored: stored, wipes: wipes)
        remediations = Remediations(
            context, service: service, stored: stored, checkIns: checkIns, enrollments: enrollments,
            unenrollments: unenrollments)
        dueWork = DueWork(
            context, changes: changes, stored: stored, wipes: wipes, checkIns: checkIns, enrollments: enrollments,
            unenrollments: unenrollments)
        await gate.connect(LaunchRemedies(stored: stored, checkIns: checkIns, wipes: wipes, enrollments: enrollments))
        await settings.load()
        try await stored.load()
        try await DebugPolicies.activate(in: context, opening: files)
        await enrollments.recallDeviceAccount()
        await stored.recordClock()
        await telemetry.recordLaunch()
        await remediations.resume()
    }

    /// The events from now on, in order. There may be any number of observers, and each gets every event; one that begins before the first
    /// ``launch(_:)`` also gets the events since the start. Whoever falls more than 256 events behind loses the oldest. Any thread.
    public nonisolated func events() -> AsyncStream<ProtectionEvent> { context.events.observe() }

    /// The accounts enrolled in this app (SDK-EN-26). Any thread, no waiting.
    public nonisolated var enrolledAccounts: [ManagedAccount] {
        context.accounts.records.values.map(\.account).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    // MARK: What is allowed

    /// The answer to a question under the rules in force, with every reason. Any thread, no waiting.
    ///
    /// Use it to adapt a screen; to let something out, take a permit. A fact that a rule needs and nobody knows denies.
    public nonisolated func decision(for question: Question) -> PolicyDecision { rules.decision(for: question) }

    /// Asks whether something may leave, and returns a permit to do it once; see ``EnforcedRules/permit(for:)``. Any thread, no
    /// waiting.
    ///
    /// - Throws: ``ProtectionError``: `denied` with every reason when the verdict is to block or to wipe, or the owner's gate is
    ///   closed; `noPermit` for an action that is allowed and has no permits.
    public nonisolated func permit(for question: Question) throws(ProtectionError) -> EgressPermit {
        try rules.permit(for: question)
    }

    // MARK: The app starts, leaves the front, comes back

    /// Passes the launch gate when the app starts: call it before you show anything of an account (SDK-CL-01, CL-02, CL-05). It also marks
    /// the app as in front; when the app comes back later, call ``LaunchGates/cameToFront(_:)``.
    ///
    /// - Parameter account: The account whose data you are about to show. Nil means the app's only account
    ///   (``EnforcedRules/primaryAccount``), and in an app that holds several checks nothing yet. Without any account the settings
    ///   ``ProtectionSettings/requiresPolicy`` and ``ProtectionSettings/warnsWithoutPolicy`` decide.
    /// - Returns: Whether the data may be shown, with every reason; also posted as ``ProtectionEvent/gate(account:_:)``.
    @discardableResult
    public func launch(_ account: AccountID? = nil) async -> LaunchOutcome {
        // Delegates are part of the configuration, and so cannot be late (SDK-CO-10).
        if !context.events.wasEverObserved, !context.pending.isStartDone {
            context.configuration.logger.warning("events are not observed yet: call events() before launch(_:)")
        }
        context.events.endStart()
        gate.noteFront()
        await enrollAtLaunch()
        return await gate.passFirst(account, on: .launch)
    }

    /// Passes the launch gate when the app comes back to the front; asks nothing if the last look is recent enough. If the call may run
    /// late, as in a task of its own, use ``LaunchGates/cameToFront(_:)`` instead.
    /// A call made while the gate is being passed gets that outcome; to ask the person anew, call again.
    @discardableResult
    public func resume(_ account: AccountID? = nil) async -> LaunchOutcome { await gate.comeBack(account) }

    /// Does what ``LaunchGates/leftFront()`` does, and waits until the time away is noted (SDK-CL-03).
    public func suspend() async { await gate.suspend() }
}
