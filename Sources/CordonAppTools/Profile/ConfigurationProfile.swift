public import Foundation

/// Configuration profiles for device management (TL-MC).
public struct ConfigurationProfile: Sendable {
    /// The whole profile.
    public let value: PropertyListValue

    /// What makes a single sign-on profile.
    public struct SignOn: Sendable {
        /// The reverse-DNS name of the profile.
        public var identifier: String
        /// The extension that answers; the naming profile's broker when nil.
        public var extensionIdentifier: String?
        /// Address prefixes the extension answers for; the naming profile's hosts when empty.
        public var urls: [String] = []
        /// Whether devices are shared.
        public var isShared = true
        /// The team of the extension's maker, which macOS asks for and iOS does not (SI-013).
        public var team: String?
        /// Whether requests wait for the unlocked screen (`Cancel`) or go past the extension (`DoNotHandle`); nil for the
        /// system's choice (SI-021).
        public var screenLocked: String?
        /// Apps that the extension does not answer.
        public var denied: [String] = []
        /// More for the extension itself, after the mode: each key with its value as text (SI-022).
        public var data: [(key: String, value: String)] = []
        /// The profile's identifier, made from its content when nil.
        public var uuid: String?

        /// Starts from the naming profile's own values.
        public init(identifier: String) {
            self.identifier = identifier
        }
    }

    /// A profile with one extensible single sign-on payload of the redirect kind (TL-MC-01 to 03).
    /// - Throws: ``AppToolsError`` `usage` when an address breaks Apple's rules or none is given.
    public init(_ request: SignOn, names: NamingProfile) throws(AppToolsError) {
        let urls = request.urls.isEmpty ? names.signOnHosts.map { "https://" + $0 } : request.urls
        guard !urls.isEmpty else {
            throw AppToolsError(.usage, "no sign-in address is given", hint: "--url https://login.example.test")
        }
        for url in urls {
            if let problem = ProfileLint.problem(ofURL: url) { throw AppToolsError(.usage, "\(url): \(problem)") }
        }
        var data: PropertyListDictionary = ["sharedDeviceMode": .boolean(request.isShared)]
        for (key, text) in request.data {
            guard let value = SignOnData.value(text, of: key), key != "sharedDeviceMode" else {
                throw AppToolsError(.usage, "\(key) cannot be \(text)")
            }
            data[key] = value
        }
        guard [nil, "Cancel", "DoNotHandle"].contains(request.screenLocked) else {
            throw AppToolsError(.usage, "a locked screen means Cancel or DoNotHandle")
        }
        let payloadIdentifier = request.identifier + ".sign-on"
        var payload: PropertyListDictionary = [
            "ExtensionData": .dictionary(data),
            "ExtensionIdentifier": .string(request.extensionIdentifier ?? names.signOnExtension),
            "PayloadDisplayName": .string("Single sign-on"), "PayloadIdentifier": .string(payloadIdentifier),
            "PayloadType": .string("com.apple.extensiblesso"), "PayloadVersion": .integer(1),
            "Type": .string("Redirect"), "URLs": .array(urls.map { .string($0) }),
        ]
        payload["TeamIdentifier"] = request.team.map { .string($0) }
        payload["ScreenLockedBehavior"] = request.screenLocked.map { .string($0) }
        if !request.denied.isEmpty {
            payload["DeniedBundleIdentifiers"] = .array(request.denied.map { .string($0) })
        }
        payload["PayloadUUID"] = .string(Self.uuid(payload))
        var profile: PropertyListDictionary = [
            "PayloadContent": .array([.dictionary(payload.sorted)]),
            "PayloadDisplayName": .string("Single sign-on for shared devices"),
            "PayloadIdentifier": .string(request.identifier), "PayloadType": .string("Configuration"),
            "PayloadVersion": .integer(1),
        ]
        profile["PayloadUUID"] = .string(request.uuid ?? Self.uuid(profile))
        value = .dictionary(profile.sorted)
    }

    /// How managed app configuration reaches a device (TL-MC-04).
    public enum Delivery: String, Sendable {
        /// As an item of the Settings command.
        case settings
        /// As the configuration dictionary of an install command.
        case install
    }

    /// A managed app configuration.
    ///
    /// - Parameters:
    ///   - app: The app's bundle identifier.
    ///   - entries: The keys and typed values; the naming profile's user keys become template variables on top.
    public init(
        configurationOf app: String, entries: [(key: String, value: PropertyListValue)], delivery: Delivery,
        includesUser: Bool, names: NamingProfile
    ) {
        var configuration = PropertyListDictionary(entries)
        if includesUser {
            for (key, variable) in zip(
                names.configurationUserKeys, ["{{userprincipalname}}", "{{userid}}", "{{deviceid}}"])
            where configuration[key] == nil {
                configuration[key] = .string(variable)
            }
        }
        let content = PropertyListValue.dictionary(configuration)
        value =
            delivery == .install
            ? content
            : .dictionary([
                "Configuration": content, "Identifier": .string(app), "Item": .string("ApplicationConfiguration"),
            ])
    }

    /// The profile as XML.
    public var data: Data { XMLPropertyListWriter().document(value) }

    private static func uuid(_ content: PropertyListDictionary) -> String {
        NameBasedUUID.make(XMLPropertyListWriter().document(.dictionary(content.sorted)))
    }
}
