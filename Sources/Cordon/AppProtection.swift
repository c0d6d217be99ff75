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
    let ledger: TelemetryLedger
    /// Whether the person is asked, while requests for logs are being answered; nil while nobody answers any.
    var answeringLogs: Bool?
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

    /// What the service says of itself, and whether it is the organisation's.
    public nonisolated let service: ServiceAccess
    /// The accounts that the app has registered and may hold, and the device's own.
    public nonisolated let enrollments: Enrollments
    /// What to do when a token is refused for want of protection.
    public nonisolated let remediations: Remediations
    nonisolated let changes: AccountChanges
    nonisolated let wipes: Wipes
    nonisolated let stored: StoredAccounts
    nonisolated let registrations: Registrations
    nonisolated let checkIns: CheckIns
    nonisolated let unenrollments: Unenrollments
    nonisolated let dueWork: DueWork

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
        let facade = WeakFacade()
        changes = AccountChanges(context) { facade.followers }
        service = ServiceAccess(context)
        wipes = Wipes(context, service: service, changes: changes)
        stored = StoredAccounts(context, changes: changes, wipes: wipes)
        let commands = Commands(context, service: service, changes: changes)
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
        facade.hold(self)
        try await start()
    }

    /// What happens from now on; see ``ProtectionEvent``. Any number of observers, each told of everything; the first one
    /// is also told of what happened at the start.
    public nonisolated func events() -> AsyncStream<ProtectionEvent> {
        broadcast.observe()
    }

    /// The accounts enrolled here (SDK-EN-26).
    public var enrolledAccounts: [ManagedAccount] {
        context.accounts.records.values.map(\.account).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    private func start() async throws(ProtectionError) {
        loadOverrides()
        tellRefusedSettings()
        try await stored.load()
        try await applyDebugPolicies()
        await enrollments.recallDeviceAccount()
        await stored.recordClock()
        noteLaunch()
        await remediations.resume()
    }
}

/// The parts that are still on the facade, which holds what holds this.
final class WeakFacade: Sendable {
    private struct Reference: Sendable { weak var facade: AppProtection? }
    private let reference = Locked(Reference())
    var followers: [any AccountFollower] { reference.withLock { $0.facade }.map { [$0] } ?? [] }
    func hold(_ facade: AppProtection) { reference.withLock { [weak facade] in $0.facade = facade } }
}
