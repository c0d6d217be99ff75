public import CordonIdentity
public import CordonPolicy
public import CordonProtocol
public import CordonSignIn
public import CordonVault
public import Foundation
public import Logging

/// What an app tells Cordon once: who it is, where its service is, and which root key it trusts.
public struct ProtectionConfiguration: Sendable {
    /// The app as the service knows it.
    public var application: ApplicationFacts
    /// The device as the service knows it; without a tag, Cordon makes one for each organisation (SRV-CI-095).
    public var device: DeviceDescription
    /// Where the service is: https and a host, or http with an address of this machine.
    public var service: URL
    /// The RFC 7638 thumbprint of the service's root key, 43 characters; no other key is ever trusted (SRV-CI-084).
    public var rootKey: String
    /// The thumbprint of the root key that may follow it: an app that knows both goes on when the organisation changes to its
    /// next one. Nil for none.
    public var nextRootKey: String?
    /// Where Cordon keeps the organisation's files and its own state; nothing else may write there.
    public var dataDirectory: URL
    /// Folders of the app's own that hold what ``AccountFiles/protect(_:for:progress:)`` seals: a wipe looks for the account's
    /// files there.
    public var protectedRoots: [URL] = []
    /// Where the device's root key lives.
    public var keyStore: any KeyStore
    /// How the service is reached.
    public var transport: any HTTPTransport
    /// The sessions that access tokens come from.
    public var sessions: any AccountSessions
    /// Whether several accounts may be managed at once; by default one, and every other account is personal
    /// (SDK-ID-36, CQ-02). The setting `MultiManagedIdentities` says the same.
    public var allowsSeveralIdentities = false
    /// The accounts that the device's management knows; an account that contradicts one is not enrolled (SDK-EN-22).
    public var expectedAccounts = ExpectedAccounts()
    /// Asks the device's management which account the device is enrolled for, nil for none; may take its time. Without it that
    /// account is ``ExpectedAccounts/deviceEnrollment``, else the one that ``managedConfiguration`` names as `IntuneMAMOID`
    /// (SDK-EN-29).
    public var askDeviceAccount: (@Sendable () async -> AccountID?)?
    /// The app configuration that the device's management has given, such as the value of `com.apple.configuration.managed`;
    /// it is the configuration of the account that the device is enrolled for alone (SDK-CF-01, SDK-CF-08). No rule, no pin and no address
    /// of a link follows it, since no service has signed it.
    public var managedConfiguration: [String: JSONValue] = [:]
    /// Whether this process is an extension: it reads what the app has, and enrols no account (SDK-EN-23).
    public var isExtension = false
    /// Asks the person whether an account may be managed; with nil the person is not asked. No answer within five minutes is a no (226).
    public var confirmEnrollment: (@Sendable (ManagedAccount) async -> Bool)?
    /// Asks the person whether the first account and all its data are removed, so that the second one can be protected instead:
    /// an app for one managed account asks it when ``Remediations/remediate(_:silent:)`` is for another one. Nil never
    /// removes any; no answer within five minutes is a no (SDK-SW-04).
    public var confirmReplacement: (@Sendable (ManagedAccount, ManagedAccount) async -> Bool)?
    /// Shows the person what an administrator of the account wants to have, the diagnostic report and the log, and asks
    /// whether it may be sent; nil sends nothing (SRV-CI-015). No answer within five minutes sends nothing either.
    public var confirmLogUpload: (@Sendable (ManagedAccount, Data) async -> Bool)?
    /// Signs a person in for ``AppProtection/signInAndEnroll(_:)``: the name to begin with, nil to ask for one.
    public var signIn: (@Sendable (String?) async throws(SignInError) -> ManagedAccount)?
    /// Told when the first rules of an account are in force, or when a remediation has removed an account for another's sake
    /// (SDK-RS-04), for apps that have to rebuild their screens; Cordon needs no restart. Return true when the app does so itself
    /// (SDK-RS-02); false posts ``ProtectionEvent/restartAdvised(account:)``. Called on no particular thread.
    public var restartApplication: (@Sendable (AccountID) async -> Bool)?
    /// Numbers that only rise, kept where a copy of the data folder does not reach; every process of the app needs the same. Nil keeps them in
    /// files in the data folder, which recognise a record that is removed or put back alone, and not a copy of everything; the service
    /// hears so.
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
    /// The log that Cordon keeps in the app's state folder; it learns from the settings and the organisation's rules what
    /// stays out of it, and loses at a wipe what it says of the account. Nil keeps none.
    public var logFile: ProtectionLog?
    /// The clock and the waiting between check-ins; a test gives its own.
    package var clock = ProtectionClock.system
    /// Where Cordon logs; no file name, content, key or token ever goes there.
    public var logger: Logger
    /// Called with the name of every step of a wipe, between steps, so it may take its time.
    package var wipeObserver: @Sendable (String) -> Void = { _ in }
    /// The app's own part of a wipe, after Cordon's files are gone (SDK-SW-01).
    public var wipeHook: @Sendable (ManagedAccount) async -> AppWipeOutcome = { _ in .leftToCordon }
    /// What this app shares with the organisation's other apps and with its own extensions; nil shares nothing.
    public var sharingGroup: SharingGroup?
    /// What the app does when Cordon asks it to show another identity's data; without one, every such request is refused.
    public var identityDelegate: (any IdentityDelegate)?
    /// How long the app may take to answer such a request.
    public var identityAnswerLimit = Duration.seconds(30)
    /// Ends the app after it could not take a blocked account off the screen (SDK-ID-49); says why first, if it can.
    public var identityExit: @Sendable (String) async -> Void = { _ in exit(EXIT_FAILURE) }
    /// Stands in for the launch gate in tests of the identity switch.
    package var switchGate: (@Sendable (AccountID, LaunchOccasion) async -> SwitchGateAnswer)?
    /// How the launch gate asks a person. With nil the person is not asked: ways out and files of an account whose rules want a PIN or a fresh
    /// sign-in stay closed. Other conditions are looked at by ``AppProtection/launch(_:)`` and
    /// ``AppProtection/resume(_:)``; one that is not met closes the gate like any other.
    public var interface: (any ProtectionInterface)?
    /// How long a person may take for one answer; no answer in time is a refusal (CQ-23).
    public var interfaceDeadline = Duration.seconds(300)
    /// The app's own settings, from code or from its Info.plist.
    public var settings = ProtectionSettings()
    /// What the app knows of device and account for the launch conditions: rooted, threat level, device passcode, working time.
    /// Leave unknown facts nil: a policy that needs one blocks. Called at every check.
    public var deviceFacts: @Sendable (AccountID) async -> DeviceFacts = { _ in .unknown }
    /// Whether files of an account cannot be read while its gate is closed. An app that works on them in the background
    /// sets this to false, and shows nothing of them while the gate is closed. While the account's rules cannot be read, its files cannot either.
    public var gateGuardsFiles = true
    /// Whether the app has ``AccountFiles/background``: files that it works on while the gate is closed, beside those that the gate and the PIN
    /// guard. Where some files are needed in the background, this is what to set, and to leave ``gateGuardsFiles`` as it is.
    public var keepsBackgroundFiles = false
    /// A folder that the organisation's apps on this device share for one common PIN, with a common ``keyStore``; nil
    /// keeps the PIN in this app. A PIN that was entered in one counts in all, and time spent in one app counts in the others whose rules do
    /// not ask for the PIN sooner. The first PIN is chosen after a sign-in. Set it in the app's first version: a PIN that the app has kept
    /// itself opens nothing once it shares one, and a sign-in opens the files as long as the service keeps its share of their key.
    public var pinDirectory: URL?
    /// Where a finger or a face opens the account's key in place of the PIN, as far as the rules let it stand in. Nil has the PIN asked for
    /// where a key waits for it.
    public var biometryItems: (any BiometryItems)?
    /// Whether extensions of this app, or of another one that shares ``pinDirectory``, ask for the PIN: a guess then takes the memory that an
    /// extension has. Set it to the same in every process. An extension checks no PIN that was made for more.
    public var asksPINInExtensions = false
    /// What shows the service that the app is itself; nil shows nothing. `ofThisApp` sets Apple's App Attest.
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

    /// Makes a configuration; everything that has a usual value can be changed afterwards.
    ///
    /// - Parameter logger: Where Cordon logs; without one it logs nothing.
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

/// The accounts that a device's management names; nil where it names none (SDK-EN-22, SDK-EN-29).
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
