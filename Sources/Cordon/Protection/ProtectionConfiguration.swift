public import CordonIdentity
public import CordonPolicy
public import CordonProtocol
public import CordonSignIn
public import CordonVault
public import Foundation
public import Logging

/// What an app tells Cordon once: which app and device this is, where its service is, which root key to trust, and where to keep data.
///
/// ```swift
/// var configuration = ProtectionConfiguration(
///     application: ApplicationFacts(bundleID: "example.notes", version: "1.0"),
///     device: DeviceDescription(osVersion: "1.0", model: "terminal"), service: service, rootKey: rootKey,
///     dataDirectory: home.appending(path: "protected"), keyStore: FileKeyStore(directory: home.appending(path: "keys")),
///     transport: transport, sessions: signIn)
/// configuration.interface = TerminalInterface.standard()
/// ```
public struct ProtectionConfiguration: Sendable {
    /// The app as the service knows it.
    public var application: ApplicationFacts
    /// The device as the service knows it; without a tag, Cordon makes one for each organisation (SRV-CI-095).
    public var device: DeviceDescription
    /// The service's address: https and a host, or http with an address of this machine.
    public var service: URL
    /// The RFC 7638 thumbprint of the service's root key, 43 characters. Cordon never trusts another key (SRV-CI-084).
    public var rootKey: String
    /// The thumbprint of the root key that may come next: an app that knows both keeps working when the organisation changes to its
    /// next one. Nil for none.
    public var nextRootKey: String?
    /// Where Cordon keeps the organisation's files and its own state; nothing else may write there.
    public var dataDirectory: URL
    /// The app's own folders with files that ``AccountFiles/protect(_:for:progress:)`` seals. A wipe looks for the account's
    /// files there.
    public var protectedRoots: [URL] = []
    /// The store of the device's root key.
    public var keyStore: any KeyStore
    /// How to reach the service.
    public var transport: any HTTPTransport
    /// The sessions that access tokens come from.
    public var sessions: any AccountSessions
    /// Whether several accounts may be managed at once; by default one, and every other account is personal
    /// (SDK-ID-36, CQ-02). The setting `MultiManagedIdentities` says the same.
    public var allowsSeveralIdentities = false
    /// The accounts that the device's management knows. Cordon does not enrol an account that contradicts one (SDK-EN-22).
    public var expectedAccounts = ExpectedAccounts()
    /// Asks the device's management which account the device is enrolled for; returns nil for none, and may take its time. Without it
    /// that account is ``ExpectedAccounts/deviceEnrollment``, else the one that ``managedConfiguration`` names as `IntuneMAMOID`
    /// (SDK-EN-29).
    public var askDeviceAccount: (@Sendable () async -> AccountID?)?
    /// The app configuration from the device's management, such as the value of `com.apple.configuration.managed`. Only the
    /// account that the device is enrolled for gets it (SDK-CF-01, SDK-CF-08). No service has signed it, so it sets no rule, no pin and no
    /// address of a link.
    public var managedConfiguration: [String: JSONValue] = [:]
    /// Whether this process is an extension: it reads what the app has, and enrols no account (SDK-EN-23). What the app has stored meanwhile it
    /// takes up at its start, at every launch gate, and in ``AppProtection/performDueWork()`` and ``AppProtection/keepUp()``.
    public var isExtension = false
    /// Asks the person whether an account may be managed; nil does not ask. No answer within five minutes is a no (226).
    public var confirmEnrollment: (@Sendable (ManagedAccount) async -> Bool)?
    /// Asks the person whether to remove the first account and all its data, so that the second one can be protected instead.
    /// An app for one managed account asks this when ``Remediations/remediate(_:silent:)`` is for another one. Nil never
    /// removes an account; no answer within five minutes is a no (SDK-SW-04).
    public var confirmReplacement: (@Sendable (ManagedAccount, ManagedAccount) async -> Bool)?
    /// Shows the person what an administrator of the account asks for, the diagnostic report and the log, and asks
    /// whether to send it; nil sends nothing (SRV-CI-015). No answer within five minutes sends nothing either.
    public var confirmLogUpload: (@Sendable (ManagedAccount, Data) async -> Bool)?
    /// Signs a person in for ``AppProtection/signInAndEnroll(_:)``, beginning with the given name; nil asks for one.
    public var signIn: (@Sendable (String?) async throws(SignInError) -> ManagedAccount)?
    /// The language of everything that Cordon says to people, as a tag such as `de-AT` (SDK-RS-06, SDK-CA-05). With nil it is the language in
    /// which Apple's systems show the app, which is one that the app itself has; elsewhere that of `LC_ALL`, `LC_MESSAGES` or `LANG`, so an
    /// app with texts in one language names it here. Cordon has English and German texts; any other language gets the English ones.
    ///
    /// A process has one language: that of its first ``AppProtection``. Reasons of denials in the app's log are in it, too.
    public var language: String?
    /// Called when the first rules of an account are in force, or when a remediation has removed an account to make room for another
    /// (SDK-RS-04). It is for apps that have to rebuild their screens; Cordon needs no restart. Return true if the app does that itself
    /// (SDK-RS-02); false, or nil here, posts ``ProtectionEvent/restartAdvised(account:)``. Called on no particular thread.
    public var restartApplication: (@Sendable (AccountID) async -> Bool)?
    /// Numbers that only rise, kept where a copy of the data folder does not reach; every process of the app needs the same. Nil keeps them in
    /// files in the data folder: Cordon then notices when one record is removed or put back, but not when everything is, and tells the
    /// service so.
    public var stateCounter: (any StateCounter)?
    /// A random number from -1 to 1 that spreads the times at which devices ask; a test gives its own.
    package var jitter: @Sendable () -> Double = { Double.random(in: -1...1) }
    /// Whether telemetry may leave the app at all: the inverse of the setting `MAMTelemetryDisabled`.
    public var telemetryEnabled = true
    /// Whether the person agreed to optional telemetry, the documents' level 0.
    public var sendsOptionalTelemetry = false
    /// Where the app's telemetry may be kept; nil for anywhere (SRV-CI-073).
    public var telemetryRegion: ReportedEvent.Region?
    /// Fields that telemetry leaves out.
    public var unsentTelemetry: Set<TelemetryEvent.Field> = []
    /// How the app sends telemetry itself; nil sends it to the service.
    public var telemetryDelegate: (any TelemetryDelegate)?
    /// The log files of the app, for diagnostics (SDK-LG-03).
    public var logs: [URL] = []
    /// The log that Cordon keeps in the app's state folder. The settings and the organisation's rules say what
    /// stays out of it, and a wipe removes what it says of the account. Nil keeps none.
    public var logFile: ProtectionLog?
    /// The clock and the waiting between check-ins; a test gives its own.
    package var clock = ProtectionClock.system
    /// Where Cordon logs; no file name, content, key or token ever goes there.
    public var logger: Logger
    /// Called with the name of every step of a wipe, between steps, so it may take its time.
    package var wipeObserver: @Sendable (String) -> Void = { _ in }
    /// The app's own part of a wipe, called after Cordon's files are gone (SDK-SW-01). Remove what the app itself keeps of the account, and
    /// say how that ended: it goes into the receipt. The wipe waits for it however long it takes, on no particular thread; a start of the app,
    /// a check-in and ``AppProtection/performDueWork()`` go on after ``interfaceDeadline``. If the app is ended meanwhile, its next start calls
    /// it again, so it must bear being called twice.
    ///
    /// ```swift
    /// configuration.wipeHook = { account in await drafts.remove(of: account.id) ? .removed : .failed("drafts are left") }
    /// ```
    public var wipeHook: @Sendable (ManagedAccount) async -> AppWipeOutcome = { _ in .leftToCordon }
    /// What this app shares with the organisation's other apps and with its own extensions; nil shares nothing.
    public var sharingGroup: SharingGroup?
    /// Answers when Cordon asks the app to show another identity's data; without one, Cordon takes the answer as no.
    public var identityDelegate: (any IdentityDelegate)?
    /// How long the app may take to answer such a request.
    public var identityAnswerLimit = Duration.seconds(30)
    /// Ends the app after it could not take a blocked account off the screen (SDK-ID-49); says why first, if it can.
    public var identityExit: @Sendable (String) async -> Void = { _ in exit(EXIT_FAILURE) }
    /// Stands in for the launch gate in tests of the identity switch.
    package var switchGate: (@Sendable (AccountID, LaunchOccasion) async -> SwitchGateAnswer)?
    /// How the launch gate asks a person. Nil asks nobody: if an account's rules want a PIN or a fresh sign-in, its ways out and files
    /// stay closed. ``AppProtection/launch(_:)`` and ``AppProtection/resume(_:)`` still check the other conditions; one that is not
    /// met closes the gate.
    public var interface: (any ProtectionInterface)?
    /// How long a person may take for one answer. No answer in time is a refusal (CQ-23).
    public var interfaceDeadline = Duration.seconds(300)
    /// The app's own settings, from code or from its Info.plist.
    public var settings = ProtectionSettings()
    /// What the app knows of device and account for the launch conditions: rooted, threat level, device passcode, working time.
    /// Leave unknown facts nil: a policy that needs one blocks. Cordon calls it at every check, on no particular thread; after ten seconds
    /// without an answer nothing counts as known.
    ///
    /// ```swift
    /// configuration.deviceFacts = { _ in
    ///     var facts = DeviceFacts()
    ///     facts.devicePINSet = true
    ///     facts.rooted = false
    ///     return facts
    /// }
    /// ```
    public var deviceFacts: @Sendable (AccountID) async -> DeviceFacts = { _ in .unknown }
    /// Whether the closed gate keeps an account's files unreadable. An app that works on all of them in the background
    /// sets this to false, and shows nothing of them while the gate is closed. As long as the account's rules cannot be read, neither can its files.
    public var gateGuardsFiles = true
    /// Whether the app has ``AccountFiles/background``: files that it works on while the gate is closed, beside those that the gate and the PIN
    /// guard. If the app needs only some files in the background, set this and leave ``gateGuardsFiles`` as it is.
    public var keepsBackgroundFiles = false
    /// A folder that the organisation's apps on this device share for one common PIN, with a common ``keyStore``; nil
    /// keeps the PIN in this app. A PIN entered in one app counts in all, and time spent in one app counts in the others whose rules do
    /// not ask for the PIN sooner. The person chooses the first PIN after a sign-in. Set it in the app's first version: a PIN that the app has
    /// kept itself opens nothing once it shares one, and a sign-in opens the files as long as the service keeps its share of their key.
    public var pinDirectory: URL?
    /// Where a finger or a face opens the account's key in place of the PIN, as far as the rules let it stand in. With nil, Cordon asks for the
    /// PIN where a key waits for it.
    public var biometryItems: (any BiometryItems)?
    /// Whether extensions of this app, or of another one that shares ``pinDirectory``, ask for the PIN. A guess then takes no more memory than an
    /// extension has; an extension checks no PIN that was made for more. Set the same in every process.
    public var asksPINInExtensions = false
    /// Shows the service that the app is genuine; nil shows nothing. `ofThisApp` sets Apple's App Attest.
    public var evidence: (any AppEvidenceSource)?
    /// How much work one guess at a PIN takes; nil for what fits the process.
    package var pinCost: PINCost?
    /// Rules for trying the app without a service; debug builds only.
    public var debugPolicies: DebugPolicies?
    /// Called at every step of a PIN check; a test ends the process there.
    package var pinObserver: @Sendable (String) -> Void = { _ in }
    /// Called at every step by which an account's key gets or loses its share; a test ends the process there.
    package var guardObserver: @Sendable (String) -> Void = { _ in }
    /// Which build this is; only a test says otherwise.
    package var buildKind = BuildKind.current

    /// Makes a configuration; everything that has a default can be changed afterwards.
    ///
    /// - Parameters:
    ///   - application: The app as the service knows it.
    ///   - device: The device as the service knows it.
    ///   - service: The service's address; ``AppProtection`` checks it.
    ///   - rootKey: The thumbprint of the service's root key, which `cordon serve` prints as `rootKey`.
    ///   - dataDirectory: Where Cordon keeps the organisation's files and its own state; made if missing.
    ///   - keyStore: The store of the device's root key, which no copy of the data folder should reach.
    ///   - transport: How to reach the service.
    ///   - sessions: The sessions that access tokens come from, such as a `SignInClient`.
    ///   - logger: Where Cordon logs; without one it logs nothing.
    public init(
        application: ApplicationFacts, device: DeviceDescription, service: URL, rootKey: String,
        dataDirectory: URL, keyStore: any KeyStore, transport: any HTTPTransport, sessions: any AccountSessions,
        logger: Logger = Logger(label: "cordon") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.application = application
        self.device = device
        self.service = service
        self.rootKey = rootKey
        self.dataDirectory = dataDirectory
        self.keyStore = keyStore
        self.transport = transport
        self.sessions = sessions
        self.logger = logger
    }
}

extension ProtectionConfiguration {
    /// What the device's management gave, as one that an administrator assigned.
    var givenConfiguration: AppConfiguration {
        managedConfiguration.isEmpty
            ? .empty : AppConfiguration([TargetedAppConfiguration(values: managedConfiguration)])
    }

    /// The keys of a set that a pinned root key vouches for.
    ///
    /// - Parameters:
    ///   - now: The moment; `.distantPast` for a set whose validity was looked at when it came.
    ///   - known: A set that was taken before; an older one is refused.
    func trusted(
        _ set: SignedKeySet, at now: Date, after known: SignedKeySet? = nil
    ) throws(ProtocolError) -> JSONWebKeySet {
        try set.verified(pin: rootKey, orNext: nextRootKey, at: now, after: known?.version ?? 0)
    }
}

/// The accounts that a device's management names, nil where it names none (SDK-EN-22, SDK-EN-29).
public struct ExpectedAccounts: Sendable, Equatable {
    /// The account that a third party's management expects; another one ends with 209.
    public var management: AccountID?
    /// The account that the device itself is enrolled for; another one ends with 210.
    public var deviceEnrollment: AccountID?
    /// The account that the device belongs to; another one ends with 211.
    public var deviceOwner: AccountID?

    /// Makes a value.
    public init(management: AccountID? = nil, deviceEnrollment: AccountID? = nil, deviceOwner: AccountID? = nil) {
        self.management = management
        self.deviceEnrollment = deviceEnrollment
        self.deviceOwner = deviceOwner
    }
}
