internal import CordonBase
public import CordonProtocol
internal import CordonSignIn
public import Foundation

extension BrokerConfiguration {
    /// The members of a configuration file; unknown ones are refused, so that a misspelt rule is not ignored.
    private struct File: Decodable {
        var issuer: String
        var clientID: String?
        var sharedDeviceMode: Bool?
        var apps: [AllowedApp]?
        var maxIdleSeconds: Int?
        var maxSessionSeconds: Int?
        var warningSeconds: Int?
        var cleanUpSeconds: Int?
        var joinRoles: [String]?
        var administrationResource: String?
        var administrationScopes: [String]?
        var redirectPorts: [UInt16]?
        var preferredAuthenticationMethod: String?
        var signInParameters: [String: String]?
        var service: String?
        var deviceName: String?
        var reportSeconds: Int?
    }

    private static let members: Set<String> = [
        "issuer", "clientID", "sharedDeviceMode", "apps", "maxIdleSeconds", "maxSessionSeconds", "warningSeconds",
        "cleanUpSeconds", "joinRoles", "administrationResource", "administrationScopes", "redirectPorts",
        "preferredAuthenticationMethod", "signInParameters", "service", "deviceName", "reportSeconds",
    ]

    private static let appMembers: Set<String> = [
        "name", "path", "sha256", "group", "label", "clientIDs", "resources", "bundleID", "origins",
    ]

    /// The client id that the broker has at the provider, where nothing else is said.
    public static let usualClientID = "cordon-broker"

    /// The address of a service in a text: https, or plain http to this machine; nil for anything else.
    public static func serviceAddress(_ text: String) -> URL? {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), let host = url.host(), !host.isEmpty,
            url.query() == nil, url.fragment() == nil, url.user() == nil
        else { return nil }
        let isOwn = ["127.0.0.1", "::1", "[::1]"].contains(host)
        return scheme == "https" || (scheme == "http" && isOwn) ? url : nil
    }

    /// Whether the broker can wait so many seconds: what a clock cannot add up would end it in the middle of a sign-out.
    public static func isAllowed(seconds: Int) -> Bool { (1...longestTime).contains(seconds) }

    /// Ten years.
    private static let longestTime = 315_360_000

    private static func isPrinted(_ letter: Unicode.Scalar) -> Bool {
        ![.control, .lineSeparator, .paragraphSeparator].contains(letter.properties.generalCategory)
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let origin = WebOrigin(text), origin.scheme == "https" || origin.isOwn else { return false }
        return text.split(separator: "/").count == 2
    }

    /// Reads a configuration file: JSON (docs/broker-protocol.md lists its members).
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    public init(file: URL) throws(ProgramError) {
        let bytes: Data
        do { bytes = try Data(contentsOf: file) } catch {
            throw ProgramError(
                .configurationInvalid, reason: "the file cannot be read", place: file.path,
                hint: "Check the path and its permissions."
            )
        }
        try self.init(json: bytes, place: file.path)
    }

    /// Reads a configuration.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    public init(json bytes: Data, place: String) throws(ProgramError) {
        func refuse(_ reason: String) -> ProgramError {
            ProgramError(
                .configurationInvalid, reason: reason, place: place, hint: "Compare it with docs/broker-protocol.md.")
        }
        guard bytes.count <= 1 << 20, let object = try? JSONSerialization.jsonObject(with: bytes) as? [String: Any]
        else { throw refuse("the configuration is not a JSON object") }
        if let strange = object.keys.sorted().first(where: { !Self.members.contains($0) }) {
            throw refuse("\(strange) is not a setting")
        }
        for app in object["apps"] as? [[String: Any]] ?? [] {
            if let strange = app.keys.sorted().first(where: { !Self.appMembers.contains($0) }) {
                throw refuse("\(ThrottledLog.plain(strange)) is not a setting of an app")
            }
        }
        let file: File
        do { file = try JSONDecoder().decode(File.self, from: bytes) } catch {
            throw refuse("a setting is missing or of the wrong kind")
        }
        var signIn = SignInConfiguration(issuer: file.issuer, clientID: file.clientID ?? Self.usualClientID)
        signIn.redirect = .loopback(ports: file.redirectPorts ?? [])
        self.init(signIn: signIn)
        managedConfigurationSaysShared = file.sharedDeviceMode ?? false
        apps = file.apps ?? []
        // An app is known by its name and client id: two programs of one name would share a key and what they owe.
        guard Set(apps.map(\.name)).count == apps.count else { throw refuse("two apps have the same name") }
        for app in apps {
            guard app.path.hasPrefix("/"), !app.name.isEmpty, !app.clientIDs.isEmpty,
                app.sha256?.count ?? 64 == 64
            else { throw refuse("an app needs a name, an absolute path, client ids and, if any, a SHA-256") }
            guard app.group != "", app.label != "", app.group == nil || app.sha256 == nil else {
                throw refuse("an app's group or label is empty, or it has both a group and a SHA-256")
            }
            // The name parts texts that keys are derived from, and stands in logs.
            guard app.name.unicodeScalars.allSatisfy(Self.isPrinted) else {
                throw refuse("an app's name holds a line feed or another control character")
            }
            guard (app.origins ?? []).allSatisfy(Self.isOrigin) else {
                throw refuse("an origin of an app is not https, or http to this machine, with nothing after the host")
            }
        }
        for seconds in [
            file.maxIdleSeconds, file.maxSessionSeconds, file.warningSeconds, file.cleanUpSeconds, file.reportSeconds,
        ] {
            guard Self.isAllowed(seconds: seconds ?? 1) else {
                throw refuse("a time is not above zero, or above ten years")
            }
        }
        maximumIdle = file.maxIdleSeconds.map { .seconds($0) }
        maximumSession = file.maxSessionSeconds.map { .seconds($0) }
        if let seconds = file.warningSeconds { warning = .seconds(seconds) }
        if let seconds = file.cleanUpSeconds { cleanUpTime = .seconds(seconds) }
        if let roles = file.joinRoles { joinRoles = Set(roles) }
        if let resource = file.administrationResource { administrationResource = resource }
        if let scopes = file.administrationScopes { administrationScopes = scopes }
        preferredAuthenticationMethod = file.preferredAuthenticationMethod
        if let parameters = file.signInParameters {
            if let name = parameters.keys.sorted().first(where: SignInRequest.isReserved) {
                throw refuse("the parameter \(name) is set by the broker itself")
            }
            signInParameters = parameters
        }
        if let service = file.service {
            guard let address = Self.serviceAddress(service) else {
                throw refuse("the service's address is neither https nor this machine's own")
            }
            self.service = address
        }
        deviceName = file.deviceName
        if let seconds = file.reportSeconds { reportInterval = .seconds(seconds) }
    }
}
