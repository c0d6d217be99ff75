public import CordonSignIn
public import Foundation

/// How a broker is set up: the provider, who may use it, and when sessions end by themselves.
public struct BrokerConfiguration: Sendable, Equatable {
    /// The provider and the broker's own registration with it; its redirect must be a loopback address.
    public var signIn: SignInConfiguration
    /// Whether the MDM's profile for the sign-on extension turns shared device mode on (SI-015).
    public var profileSaysShared = false
    /// Whether the broker's managed configuration does (SI-016).
    public var managedConfigurationSaysShared = false
    /// Which programs may use the broker; empty means none, in development every program of the broker's own user.
    public var apps: [AllowedApp] = []
    /// Which bundle ids of ``apps`` the profile allows.
    public var profileApps = ProfileApps()
    /// Whether the broker runs under the user of its apps; for development and demos only.
    public var isDevelopment = false
    /// A session ends after this long without activity; nil for never (SI-159).
    public var maximumIdle: Duration?
    /// A session ends this long after the sign-in, whatever happens; nil for never.
    public var maximumSession: Duration?
    /// How long before its end a session's apps are warned.
    public var warning: Duration = .seconds(60)
    /// How long a sign-out waits for apps to clean up.
    public var cleanUpTime: Duration = .seconds(10)
    /// How often revocations that could not be delivered are tried again.
    public var revocationInterval: Duration = .seconds(60)
    /// Roles of which one lets a person join or remove the device (SI-005, SI-006).
    public var joinRoles: Set<String> = [Self.cloudDeviceAdministrator, "CloudDeviceAdministrator"]
    /// The resource whose tokens carry roles.
    public var administrationResource = "https://graph.microsoft.com"
    /// The scopes that the administrator's token is asked for with.
    public var administrationScopes = ["DeviceManagementApps.ReadWrite.All"]
    /// The service's address, where it keeps a register of shared devices and of who is on them; nil for none.
    public var service: URL?
    /// The device's name in that register; nil for none.
    public var deviceName: String?
    /// How often the service is asked whether the device is still registered.
    public var reportInterval: Duration = .seconds(300)
    /// What a signed policy says of itself; nil where the rules come from files that an administrator owns.
    public internal(set) var policy: PolicyStamp?
    /// What the program that runs the broker found out about the system, for `device.info`.
    public var hostWarnings: [DeviceInformation.Warning] = []
    /// How sign-in should open, such as `qrpin`; told to apps (SI-128).
    public var preferredAuthenticationMethod: String?
    /// What the broker adds to every sign-in page and code exchange, in the provider's own words: the parameter that
    /// opens the page with the preferred method, a language (SI-128). A page that is opened on another screen, with a code to
    /// type, gets none.
    public var signInParameters: [String: String] = [:]

    /// The directory's own id of the role Cloud Device Administrator.
    public static let cloudDeviceAdministrator = "7698a772-787b-4ac8-901f-60d6b08affd2"
    /// The tenant of personal accounts at the one provider that mixes both kinds; such accounts are refused (SI-047).
    static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// Makes a configuration in which no program is allowed and the device is not shared.
    public init(signIn: SignInConfiguration) {
        self.signIn = signIn
    }
}

/// An app that may use the broker: which program it is, and what it may be towards the broker (SI-190, SI-191).
public struct AllowedApp: Sendable, Equatable, Codable {
    /// The app's name in reports and logs.
    public var name: String
    /// The program's file, after all links are followed. Neither it nor a folder above it may be its user's to change.
    public var path: String
    /// SHA-256 of the program's file in hexadecimal; nil accepts whatever file the owner of the path puts there.
    public var sha256: String?
    /// The group that the program is installed with (setgid), by name or number: no user's login group, and without members. The
    /// kernel says it when the app connects, so neither the program's file nor what becomes of the process later counts, and
    /// no other process can load code into the app or trace it. Recommended; nil tells the app by its file.
    public var group: String?
    /// The security label, as AppArmor or SELinux gives it, that the app must have had when it connected, beside being the
    /// file at ``path``; nil for any.
    public var label: String?
    /// The client ids it may use.
    public var clientIDs: [String]
    /// The resources it may ask tokens for; nil for any.
    public var resources: [String]?
    /// The bundle id under which the MDM's lists name it, and the service knows it: only receipts of this app's wipes are
    /// signed for it, and none where it is nil.
    public var bundleID: String?
    /// The origins to which it may prove that it holds the key of its tokens, such as `https://api.contoso.example`; nil for
    /// those of the addresses in ``resources`` and of the broker's service.
    public var origins: [String]?

    /// Makes an entry.
    public init(
        name: String, path: String, sha256: String? = nil, group: String? = nil, label: String? = nil,
        clientIDs: [String], resources: [String]? = nil, bundleID: String? = nil, origins: [String]? = nil
    ) {
        self.name = name
        self.path = path
        self.sha256 = sha256
        self.group = group
        self.label = label
        self.clientIDs = clientIDs
        self.resources = resources
        self.bundleID = bundleID
        self.origins = origins
    }

    /// Whether the caller is the program that the entry means, by what the kernel says of it.
    func means(_ caller: BrokerCaller) -> Bool {
        guard label == nil || label == caller.label else { return false }
        if let group { return caller.groups.contains(group) }
        return caller.objection == nil && path == caller.path
            && (sha256 == nil || sha256?.lowercased() == caller.digest)
    }
}

/// The app lists of a sign-on profile (spec of the extension's keys, SI-022).
public struct ProfileApps: Sendable, Equatable {
    /// Whether all managed apps take part.
    public var allowsAll = true
    /// Bundle ids that take part.
    public var allowed: Set<String> = []
    /// Beginnings of bundle ids that take part.
    public var allowedPrefixes: [String] = []
    /// Bundle ids that do not, whatever else says so.
    public var blocked: Set<String> = []

    /// Lists that leave every app in.
    public init() {}

    /// Whether an app takes part; one without a bundle id is not the profile's affair.
    public func permits(_ bundleID: String?) -> Bool {
        guard let bundleID else { return true }
        if blocked.contains(bundleID) { return false }
        return allowsAll || allowed.contains(bundleID) || allowedPrefixes.contains { bundleID.hasPrefix($0) }
    }
}
