internal import CordonProtocol

/// Which apps may prove themselves by App Attest (SRV-CI-082).
public struct AppAttestSettings: Sendable, Equatable {
    /// The apps by team and bundle id, such as `9XK3M7QW2P.org.example.fieldnotes`; evidence of any other is refused.
    public var apps: Set<String>
    /// Whether keys of Apple's development environment count; apps that Xcode installs have them, and so does everyone who builds an app.
    public var allowsDevelopment: Bool

    /// Takes the apps.
    public init(apps: Set<String>, allowsDevelopment: Bool = false) {
        self.apps = apps
        self.allowsDevelopment = allowsDevelopment
    }

    /// The accepted id of an app with this bundle id.
    func app(bundleID: String) -> String? { apps.first { Self.bundleID(of: $0) == bundleID } }

    /// What is wrong with the ids; nil for nothing.
    var flaw: String? {
        for app in apps.sorted() {
            let team = app.prefix { $0 != "." }
            guard team.utf8.count == 10,
                team.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }),
                let bundleID = Self.bundleID(of: app), !bundleID.isEmpty, app.utf8.count <= 256
            else { return "\(app) is not an app id" }
        }
        // One bundle id belongs to one team; two would make it a matter of chance whose app is believed.
        return Set(apps.compactMap(Self.bundleID)).count == apps.count ? nil : "a bundle id is listed twice"
    }

    private static func bundleID(of app: String) -> String? {
        app.firstIndex(of: ".").map { String(app[app.index(after: $0)...]) }
    }

    /// Which of Apple's services made a key.
    enum Environment: String {
        case production, development

        /// Reads the 16 bytes that name it; nil for another authenticator.
        init?(mark: some Collection<UInt8>) {
            switch Array(mark) {
            case Array("appattest".utf8) + [0, 0, 0, 0, 0, 0, 0]: self = .production
            case Array("appattestdevelop".utf8): self = .development
            default: return nil
            }
        }
    }

    /// Checks the ids.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    func validate() throws(ProgramError) {
        guard let flaw else { return }
        throw ProgramError(
            .configurationInvalid, reason: "apps that prove themselves cannot be told: \(flaw)",
            place: "appAttest.apps",
            hint: "give team and bundle id, such as 9XK3M7QW2P.org.example.fieldnotes")
    }
}
