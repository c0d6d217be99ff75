public import CordonIdentity
public import CordonProtocol
public import CordonSignIn
public import CordonVault
public import Foundation
public import Logging

/// What an app tells Cordon once: who it is, where its service is, and which root key it trusts.
public struct ProtectionConfiguration: Sendable {
    /// The app as the service knows it.
    public var application: ApplicationFacts
    /// The device as the service knows it.
    public var device: DeviceDescription
    /// Where the service is, scheme and host.
    public var service: URL
    /// The RFC 7638 thumbprint of the service's root key; no other key is ever trusted (SRV-CI-084).
    public var rootKeyPin: String
    /// Where Cordon keeps the organisation's files and its own state; nothing else may write there.
    public var dataDirectory: URL
    /// Where the device's root key lives.
    public var keyStore: any KeyStore
    /// How the service is reached.
    public var transport: any HTTPTransport
    /// The sessions that access tokens come from.
    public var sessions: any AccountSessions
    /// Whether accounts of several people may be held at once (SDK-ID-14).
    public var allowsSeveralIdentities = true
    /// The clock and the waiting between check-ins; a test gives its own.
    public var clock = ProtectionClock.system
    /// Where Cordon logs; no file name, content, key or token ever goes there.
    public var logger: Logger
    /// Told of every step of a wipe by its name; called between steps, so it may take its time.
    public var wipeObserver: @Sendable (String) -> Void = { _ in }
    /// The app's own part of a wipe, after Cordon's files are gone (SDK-SW-01).
    public var wipeHook: @Sendable (ManagedAccount) async -> AppWipeOutcome = { _ in .leftToCordon }
    /// What the app does when Cordon asks it to show somebody else's data; without one, every such request is refused.
    public var identityDelegate: (any IdentityDelegate)?
    /// How long the app may take to answer such a request.
    public var identityAnswerLimit = Duration.seconds(30)
    /// Ends the app after it could not take a blocked account off the screen (SDK-ID-49); says why first, if it can.
    public var identityExit: @Sendable (String) async -> Void = { _ in exit(EXIT_FAILURE) }
    /// Stands in for the launch gate in tests of the identity switch.
    package var switchGate: (@Sendable (AccountID, SwitchOccasion) async -> SwitchGateAnswer)?

    /// Makes a configuration; everything that has a usual value can be changed afterwards.
    public init(
        application: ApplicationFacts, device: DeviceDescription, service: URL, rootKeyPin: String,
        dataDirectory: URL, keyStore: any KeyStore, transport: any HTTPTransport, sessions: any AccountSessions,
        logger: Logger
    ) {
        self.application = application
        self.device = device
        self.service = service
        self.rootKeyPin = rootKeyPin
        self.dataDirectory = dataDirectory
        self.keyStore = keyStore
        self.transport = transport
        self.sessions = sessions
        self.logger = logger
    }
}
