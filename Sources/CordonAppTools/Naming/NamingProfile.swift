/// Every name that belongs to one vendor, in one value: tools know no such literal besides these.
public struct NamingProfile: Sendable, Equatable {
    /// The profile's own name, as `--names` takes it.
    public let name: String
    /// The dictionary of settings in an Info.plist.
    public let settingsKey: String
    /// What the twin of a URL scheme ends in.
    public let schemeSuffix: String
    /// What a managed type identifier begins with.
    public let managedTypePrefix: String
    /// The keychain group that managed apps share.
    public let sharedKeychainGroup: String
    /// The keychain group of the token cache.
    public let tokenCacheKeychainGroup: String
    /// A keychain group once asked for and withdrawn.
    public let withdrawnKeychainGroup: String
    /// The protection framework that the patcher loads.
    public let frameworkName: String
    /// Other frameworks of the vendor that count as linked protection.
    public let linkedFrameworks: [String]
    /// Query schemes that are always added (TL-CF-15).
    public let requiredQueries: [String]
    /// The query scheme added when the app writes mail (TL-CF-16).
    public let mailQuery: String
    /// Query schemes that get no twin.
    public let plainQueries: [String]
    /// Query schemes by which an app finds the broker to sign in with.
    public let brokerQueries: [String]
    /// Whether the ids that clients are registered under are UUIDs.
    public let givesUUIDs: Bool
    /// Query schemes of apps known to be managed, whose twins `minimal` leaves out (TL-CF-17).
    public let managedAppQueries: [String]
    /// What sign-in callback schemes begin with; they get no twin (TL-CF-12).
    public let callbackSchemePrefix: String
    /// The single sign-on extension of the broker app.
    public let signOnExtension: String
    /// The sign-in hosts that the extension answers for.
    public let signOnHosts: [String]
    /// The pane of the debug settings bundle.
    public let debugPane: String
    /// User keys of the managed app configuration.
    public let configurationUserKeys: [String]

    /// Names of Cordon itself.
    public static let cordon = NamingProfile(
        name: "cordon", settingsKey: "CordonSettings", schemeSuffix: "-cordon",
        managedTypePrefix: "org.cordon.managed.", sharedKeychainGroup: "org.cordon.shared",
        tokenCacheKeychainGroup: "org.cordon.tokens", withdrawnKeychainGroup: "org.cordon.withdrawn",
        frameworkName: "Cordon", linkedFrameworks: ["Cordon"],
        requiredQueries: ["http-cordon", "https-cordon"], mailQuery: "mailto-cordon",
        plainQueries: ["cordon-broker"], brokerQueries: ["cordon-broker"],
        givesUUIDs: false, managedAppQueries: [], callbackSchemePrefix: "auth.",
        signOnExtension: "org.cordon.broker.sign-on", signOnHosts: [], debugPane: "CordonDebugSettings",
        configurationUserKeys: ["CordonUserName", "CordonUserID", "CordonDeviceID"])

    /// Names that apps prepared for Intune use.
    public static let intuneCompatible = NamingProfile(
        name: "intune-compatible", settingsKey: "IntuneMAMSettings", schemeSuffix: "-intunemam",
        managedTypePrefix: "com.microsoft.intune.mam.", sharedKeychainGroup: "com.microsoft.intune.mam",
        tokenCacheKeychainGroup: "com.microsoft.adalcache", withdrawnKeychainGroup: "com.microsoft.workplacejoin",
        frameworkName: "IntuneMAM",
        linkedFrameworks: ["IntuneMAM", "IntuneMAMSwift", "IntuneMAMSwiftStub", "IntuneMAMTelemetry"],
        requiredQueries: [
            "http-intunemam", "https-intunemam", "microsoft-edge-http-intunemam", "microsoft-edge-https-intunemam",
            "intunemam-mtd", "smart-ns", "zips", "lacoonsecurity", "wandera", "lookoutwork-ase", "skycure",
            "betteractiveshield", "smsec", "mvisionmobile", "scmx",
        ],
        mailQuery: "ms-outlook-intunemam",
        plainQueries: ["msauthv2", "msauthv3", "companyportal"], brokerQueries: ["msauthv2", "msauthv3"],
        givesUUIDs: true,
        managedAppQueries: [
            "ms-outlook", "microsoft-edge-http", "microsoft-edge-https", "ms-word", "ms-excel", "ms-powerpoint",
            "ms-onedrive", "msteams",
        ],
        callbackSchemePrefix: "msauth.", signOnExtension: "com.microsoft.azureauthenticator.ssoextension",
        signOnHosts: [
            "login.microsoftonline.com", "login.microsoft.com", "sts.windows.net",
            "login.partner.microsoftonline.cn", "login.chinacloudapi.cn", "login.microsoftonline.de",
            "login.microsoftonline.us", "login.usgovcloudapi.net", "login-us.microsoftonline.com",
        ],
        debugPane: "MAMDebugSettings",
        configurationUserKeys: ["IntuneMAMUPN", "IntuneMAMOID", "IntuneMAMDeviceID"])

    /// The profile with a name; nil when there is none.
    public static func named(_ name: String) -> NamingProfile? {
        [cordon, intuneCompatible].first { $0.name == name }
    }
}
