package import CordonPolicy

/// Settings that are changed while the app runs; they win over the Info.plist and last until they are changed again
/// (SDK-AU-06, SDK-ST-36).
///
/// Nil and the empty text restore what the Info.plist says. Those of signing in end with the last enrolment.
public struct SettingOverrides: Sendable, Equatable, Codable {
    /// The OpenID provider.
    public var authority: String?
    /// The client id.
    public var clientID: String?
    /// Where the provider sends the person back to.
    public var redirectURI: String?
    /// Background of Cordon's screens, as `#RRGGBB`.
    public var backgroundColor: String?
    /// Text of Cordon's screens.
    public var foregroundColor: String?
    /// Buttons and fields of Cordon's screens.
    public var accentColor: String?
    /// Side areas of Cordon's screens.
    public var secondaryBackgroundColor: String?
    /// Footnotes of Cordon's screens.
    public var secondaryForegroundColor: String?
    /// Whether no telemetry leaves the app.
    public var telemetryDisabled: Bool?
    /// Configuration keys whose values are kept out of logs.
    public var scrubbedKeys: [String]?
    /// Where people signed in before, newest first, by the three of signing in alone; sessions may be kept there.
    var formerSignIns: [SettingOverrides]?

    /// No overrides.
    public init() {}

    static let colors: [(name: String, path: WritableKeyPath<SettingOverrides, String?> & Sendable)] = [
        ("BackgroundColor", \.backgroundColor), ("ForegroundColor", \.foregroundColor),
        ("AccentColor", \.accentColor), ("SecondaryBackgroundColor", \.secondaryBackgroundColor),
        ("SecondaryForegroundColor", \.secondaryForegroundColor),
    ]

    static let signIn: [(name: String, path: WritableKeyPath<SettingOverrides, String?> & Sendable)] = [
        ("Authority", \.authority), ("ClientID", \.clientID), ("RedirectURI", \.redirectURI),
    ]

    private var signInAlone: SettingOverrides {
        var alone = SettingOverrides()
        for (_, path) in Self.signIn { alone[keyPath: path] = self[keyPath: path] }
        return alone
    }

    /// These overrides, which remember where people signed in before them.
    func remembering(_ before: SettingOverrides) -> SettingOverrides {
        var after = self
        // A caller that replaces the overrides does not know of these.
        after.formerSignIns = before.formerSignIns
        let (former, now) = (before.signInAlone, signInAlone)
        guard former != now, former != SettingOverrides() else { return after }
        let others = (before.formerSignIns ?? []).filter { $0 != former && $0 != now }
        after.formerSignIns = [former] + others.prefix(Self.mostFormerSignIns - 1)
        return after
    }

    /// Each costs a look at every start; no app has that many.
    private static let mostFormerSignIns = 32

    /// Whether they name a place to sign in at, now or before.
    var namesSignIn: Bool { signInAlone != SettingOverrides() || formerSignIns != nil }

    /// These overrides without those of signing in.
    var withoutSignIn: SettingOverrides {
        var left = self
        for (_, path) in Self.signIn { left[keyPath: path] = nil }
        return left
    }

    /// These overrides over settings.
    func applied(to settings: ProtectionSettings) -> ProtectionSettings {
        var settings = settings
        for (name, path) in Self.signIn + Self.colors {
            // Only values that could be read got this far; see `RuntimeSettings.change`.
            if let text = self[keyPath: path] { _ = SettingKey.byName[name]?.read(.text(text), &settings) }
        }
        if let telemetryDisabled { settings.telemetryDisabled = telemetryDisabled }
        if let scrubbedKeys { settings.scrubbedKeys = scrubbedKeys }
        return settings
    }

    /// These overrides as the change left them, with what cannot be taken as it was before.
    func checked(against before: SettingOverrides) -> (overrides: SettingOverrides, problems: [SettingProblem]) {
        var checked = self
        var problems: [SettingProblem] = []
        for (name, path) in Self.signIn + Self.colors {
            guard let text = self[keyPath: path], !text.isEmpty else {
                checked[keyPath: path] = nil
                continue
            }
            var trial = ProtectionSettings()
            guard let message = SettingKey.byName[name]?.read(.text(text), &trial) else { continue }
            problems.append(SettingProblem(key: name, message: message))
            checked[keyPath: path] = before[keyPath: path]
        }
        return (checked, problems)
    }
}

extension SettingOverrides: JSONReadable {
    // Read by a decoder: once at a start, and few apps change any.
    package init(_ members: JSONMembers) throws(PolicyError) { self = try members.decode(Self.self) }
}
