/// What an app sends once, to bind itself and an account to the service (SRV-CI-001).
///
/// The account and the tenant come from the access token, the registration key from the DPoP proof; neither
/// is taken from this body.
public struct RegistrationRequest: Sendable, Codable, Equatable {
    /// The app.
    public var application: ApplicationFacts
    /// The device.
    public var device: DeviceDescription
    /// How the enrolment came about.
    public var source: Source
    /// A random value that the first envelope repeats.
    public var nonce: String
    /// The registration before this one, where files of the account on this device still hang on the share that the app left there
    /// (``RecoveryShare``): the service keeps a copy of that share for the new registration. Nil for none, and from older apps.
    public var formerRegistrationID: String?
    /// The registration whose place this one takes, with all that the app keeps of the account; nil for an enrolment, and from older apps.
    /// Where a wipe has ended that one meanwhile, the app keeps a copy from before, and the service has it wiped again. The new one goes on
    /// with its number (``CheckInRequest/stateGeneration``).
    public var replacedRegistrationID: String?

    /// How an enrolment came about.
    public enum Source: String, Sendable, Codable {
        /// The app registered an account it had signed in.
        case appRegistered
        /// The SDK signed the account in and enrolled it.
        case loginAndEnroll
        /// Compliance remediation enrolled it.
        case complianceRemediation
    }

    /// Makes a request.
    public init(
        application: ApplicationFacts, device: DeviceDescription, source: Source, nonce: String,
        formerRegistrationID: String? = nil, replacedRegistrationID: String? = nil
    ) {
        self.formerRegistrationID = formerRegistrationID
        self.replacedRegistrationID = replacedRegistrationID
        self.application = application
        self.device = device
        self.source = source
        self.nonce = nonce
    }
}

/// What the service knows of an app.
public struct ApplicationFacts: Sendable, Codable, Equatable {
    /// The bundle id, compared without case.
    public var bundleID: String
    /// The app's short version.
    public var version: String
    /// Which build of that version it is, `CFBundleVersion` on Apple's systems; nil where the app does not say (SDK-TL-05). No rule
    /// looks at it: administrators are shown it.
    public var build: String?
    /// The version of Cordon in it.
    public var sdkVersion: String
    /// Whether the device's management has configured the app for the account; nil from an older Cordon, which counts as
    /// ``Management/unmanaged`` (SRV-CI-003, SRV-TG-06). Cordon itself says it.
    public var management: Management?

    /// Whether device management stands behind an app; the raw values are the documented ones.
    public enum Management: String, Sendable, Codable {
        /// It does not.
        case unmanaged
        /// It has given the app the account's sign-in name or object id.
        case mdm
    }

    /// Makes the facts; the version of Cordon is that of the library that the app is linked with.
    public init(
        bundleID: String, version: String, build: String? = nil, sdkVersion: String = CordonRelease.version,
        management: Management? = nil
    ) {
        self.bundleID = bundleID
        self.version = version
        self.build = build
        self.sdkVersion = sdkVersion
        self.management = management
    }

    /// The version with its build, as administrators know it: `3.1 (1204)`.
    public var versionAndBuild: String { build.map { "\(version) (\($0))" } ?? version }
}

/// What the service knows of a device (SRV-RS-123).
public struct DeviceDescription: Sendable, Codable, Equatable {
    /// Relates the apps on one device; random, per organisation (SRV-CI-095).
    public var tag: String
    /// The operating system's version.
    public var osVersion: String
    /// The model identifier.
    public var model: String
    /// A name that a person gave, nil when the app does not share it. Administrators tell a person's devices apart by it, before they wipe one;
    /// without, by model, tag and the time of the last check-in.
    public var name: String?

    /// Makes the description.
    ///
    /// - Parameter tag: Random; an app leaves it empty, so that Cordon makes one, unless several apps of the organisation
    ///   share one on this device.
    public init(tag: String = "", osVersion: String, model: String, name: String? = nil) {
        self.tag = tag
        self.osVersion = osVersion
        self.model = model
        self.name = name
    }
}
