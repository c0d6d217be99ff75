public import CordonIdentity
public import CordonPolicy
public import Foundation

/// Rules from a property list, to try an app without a service (SDK-DB-01…21, SC-38).
///
/// They count only in debug builds, only if ``ProtectionSettings/allowsDebugPolicies`` is true, and only for an
/// account that no service has enrolled. A release build ignores them and says so.
///
/// ```swift
/// configuration.settings.allowsDebugPolicies = true
/// configuration.debugPolicies = DebugPolicies(
///     account: "dev@example.test", settings: DeviceSettings(["PINEnabled": 1, "PrintingBlocked": 1]))
/// ```
public struct DebugPolicies: Sendable, Equatable {
    /// The account that the rules are for; it counts as managed without being enrolled.
    public let account: AccountID
    /// The flat settings, for example `PINEnabled`.
    public let settings: DeviceSettings

    /// Names rules for an account.
    public init(account: AccountID, settings: DeviceSettings) {
        self.account = account
        self.settings = settings
    }

    /// Reads rules from a property list: a flat dictionary of keys and values, or a page of a settings bundle, whose
    /// defaults count (`MAMDebugSettings.plist`). `IntuneIdentityUPN` in it names the account.
    ///
    /// - Parameters:
    ///   - propertyList: The list, XML or binary.
    ///   - account: The account, where the list names none.
    ///   - set: What a person set on the page, which outranks its defaults: `UserDefaults.standard.dictionaryRepresentation()`.
    ///     Of a page, only its own keys are taken from it.
    /// - Throws: ``ProtectionError`` with code `damagedContent` when it is not such a list, or names no account.
    public static func read(
        _ propertyList: Data, account: AccountID? = nil, set: [String: Any] = [:]
    ) throws(ProtectionError) -> DebugPolicies {
        guard let list = PropertyValue.read(propertyList) else {
            throw ProtectionError(
                .damagedContent, "the debug policies are not an XML or binary property list",
                hint: "Give a dictionary such as PINEnabled = 1.")
        }
        var values = list.filter { $0.key != page }
        if case .list(let specifiers)? = list[page] {
            for case .dictionary(let specifier) in specifiers {
                guard case .text(let key)? = specifier["Key"] else { continue }
                // An empty field counts as not filled in.
                let typed = set[key].flatMap { $0 as? String == "" ? nil : $0 }
                guard let value = typed.flatMap({ PropertyValue($0) }) ?? specifier["DefaultValue"] else { continue }
                values[key] = value
            }
        }
        var named = account
        if case .text(let name)? = values["IntuneIdentityUPN"], !name.isEmpty { named = AccountID(name) }
        guard let named else {
            throw ProtectionError(
                .damagedContent, "the debug policies name no account", hint: "Add IntuneIdentityUPN.")
        }
        return DebugPolicies(account: named, settings: DeviceSettings(values.compactMapValues(\.json)))
    }

    /// The rules, and one message for every value that is left aside (CQ-25).
    public var policy: (policy: AppProtectionPolicy, warnings: [String]) { settings.policy() }

    private static let page = "PreferenceSpecifiers"
}
