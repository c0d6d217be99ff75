/// Everything that was assigned to one app for one account, or for several asked about together.
///
/// Each assigned dictionary stays apart; the app decides between them (SRV-TG-17). Administrators can type anything, and
/// Graph carries every value as text: a typed read understands the texts that say such a value, and leaves the others
/// out. ``values(for:)`` lists everything as it was assigned.
public struct AppConfiguration: Sendable, Equatable {
    /// The targeted dictionaries.
    public let targeted: [[String: JSONValue]]
    /// The tenant-wide defaults.
    public let defaults: [[String: JSONValue]]

    /// Takes what was assigned.
    public init(_ configurations: [TargetedAppConfiguration]) {
        targeted = configurations.filter { !$0.isDefault }.map(\.values)
        defaults = configurations.filter(\.isDefault).map(\.values)
    }

    /// Nothing assigned: also the answer for no account (CQ-18).
    public static let empty = AppConfiguration([])

    /// What several accounts have together (SRV-TG-21).
    public func joined(with other: AppConfiguration) -> AppConfiguration {
        AppConfiguration(targeted: targeted + other.targeted, defaults: defaults + other.defaults)
    }

    private init(targeted: [[String: JSONValue]], defaults: [[String: JSONValue]]) {
        self.targeted = targeted
        self.defaults = defaults
    }

    /// All dictionaries, the default one marked `__IsDefault` (SDK-CF-03).
    public var fullData: [[String: JSONValue]] {
        targeted
            + defaults.map { values in
                values.merging([TargetedAppConfiguration.defaultMark: true]) { _, mark in mark }
            }
    }

    /// Every key that has a value.
    public var keys: Set<String> { Set((targeted + defaults).flatMap(\.keys)) }

    /// The values of a key in any type: the targeted ones, else the defaults (SDK-CF-04).
    public func values(for key: String) -> [JSONValue] {
        let values = targeted.compactMap { $0[key] }
        return values.isEmpty ? defaults.compactMap { $0[key] } : values
    }

    /// Whether two targeted values of the key differ as they were assigned (SDK-CF-05).
    public func hasConflict(_ key: String) -> Bool {
        Set(targeted.compactMap { $0[key] }).count > 1
    }

    /// Whether two targeted values of the key differ when they are read as a type: `"1.0"` and `1` are one number, and a value
    /// that is none differs from one that is (SDK-CF-05).
    public func hasConflict(_ key: String, readAs type: ValueType) -> Bool {
        let values = targeted.compactMap { $0[key] }
        switch type {
        case .bool: return Set(values.map(\.typedBool)).count > 1
        case .number: return Set(values.map(\.typedNumber)).count > 1
        case .string: return Set(values.map(\.string)).count > 1
        }
    }

    /// What a value can be read as.
    public enum ValueType: Sendable, Hashable, CaseIterable {
        /// A truth value.
        case bool
        /// A number.
        case number
        /// A text.
        case string
    }

    /// Whether the key that lifts the screen capture block is set (SDK-DT-30).
    var liftsScreenCaptureBlock: Bool {
        let values = values(for: "com.microsoft.intune.mam.screencapturecontrol")
        return !values.isEmpty && values.allSatisfy { $0.string?.lowercased() == "disabled" }
    }
}
