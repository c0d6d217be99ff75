/// A setting as an editor of policies needs it.
package struct SettingDescription: Sendable {
    /// Where people look for it.
    package enum Group: String, Sendable, CaseIterable { case transfer, access, launch, storage }

    /// The JSON property.
    package let name: String
    package let group: Group
    /// The names that a value may have; empty where it is not one of a few names.
    package let names: [String]
    /// The numbers that a value may be; nil where it is no number.
    package let range: ClosedRange<Int>?
    /// The value where no administrator set one.
    package let usual: JSONValue

    /// Every setting, in the order of the specification.
    package static let all: [SettingDescription] = {
        let usual = AppProtectionPolicy()
        return Setting.all.map { setting in
            SettingDescription(
                name: setting.name, group: Group(rawValue: setting.group.rawValue) ?? .transfer, names: setting.names,
                range: setting.range, usual: setting.write(usual))
        }
    }()
}

extension AppProtectionPolicy {
    /// The value of a setting, its default where none was set; null for an unknown setting.
    package func value(ofSetting name: String) -> JSONValue { Setting.named(name)?.write(self) ?? .null }

    /// The settings whose values make no difference at present, because of others.
    package var idleSettings: Set<String> { Set(Setting.all.filter { !$0.counts(in: self) }.map(\.name)) }
}
