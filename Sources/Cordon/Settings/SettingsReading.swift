public import Foundation

/// Settings as they were read, with one message for every mistake.
public struct SettingsReading: Sendable, Equatable {
    /// The settings, with the default where a value was wrong. Each mistake is also posted as ``ProtectionEvent/settingRefused(reason:)`` when
    /// an app starts with them.
    public let settings: ProtectionSettings
    /// Every mistake, in the order of the keys.
    public var problems: [SettingProblem] { settings.mistakes }
}

/// Something that is wrong with one setting.
public struct SettingProblem: Sendable, Equatable, CustomStringConvertible {
    /// The key as it was spelt.
    public let key: String
    /// What is wrong with it, and what is needed.
    public let message: String

    /// Both, for a person.
    public var description: String { "\(key) \(message)." }
}

extension ProtectionSettings {
    /// The dictionaries that settings are read from, Cordon's own first.
    static let dictionaries = ["CordonSettings", "IntuneMAMSettings"]

    /// Reads the settings of an Info.plist, XML or binary, in Cordon's spelling or in the one of apps prepared for Intune.
    ///
    /// A property list without such a dictionary gives the defaults. If it has both spellings, Cordon's wins, and
    /// a difference is a mistake. It throws nothing: a wrong value leaves the default in place and adds a message.
    public static func read(_ propertyList: Data) -> SettingsReading {
        guard let info = PropertyValue.read(propertyList) else {
            var settings = ProtectionSettings()
            settings.mistakes = [SettingProblem(key: "Info.plist", message: "is not an XML or binary property list")]
            return SettingsReading(settings: settings)
        }
        var given: [(key: String, value: PropertyValue)] = []
        var problems: [SettingProblem] = []
        for name in dictionaries {
            switch info[name] {
            case nil: continue
            case .dictionary(let members)?: given += members.sorted { $0.key < $1.key }
            case let other?:
                problems.append(SettingProblem(key: name, message: "is \(other.kind), a dictionary is needed"))
            }
        }
        return read(given, problems: problems)
    }

    private static func read(
        _ given: [(key: String, value: PropertyValue)], problems: [SettingProblem]
    ) -> SettingsReading {
        var settings = ProtectionSettings()
        var problems = problems
        var taken: [String: PropertyValue] = [:]
        // Cordon's spelling first, so that it wins over the other.
        let ordered =
            given.filter { SettingKey.byName[$0.key]?.names.first == $0.key }
            + given.filter { SettingKey.byName[$0.key]?.names.first != $0.key }
        for (key, value) in ordered {
            guard let setting = SettingKey.byName[key], let name = setting.names.first else {
                problems.append(SettingProblem(key: key, message: "is not a setting"))
                continue
            }
            if let other = taken[name] {
                if other != value {
                    problems.append(SettingProblem(key: key, message: "says something else than \(name)"))
                }
                continue
            }
            taken[name] = value
            if let message = setting.read(value, &settings) {
                problems.append(SettingProblem(key: key, message: message))
            }
        }
        settings.mistakes = (problems + settings.contradictions).sorted { $0.key < $1.key }
        return SettingsReading(settings: settings)
    }

    /// What each value alone would be, but not all together.
    private var contradictions: [SettingProblem] {
        var problems: [SettingProblem] = []
        if requiresPolicy && warnsWithoutPolicy {
            problems.append(
                SettingProblem(key: "PolicyWarnAbsent", message: "has no effect beside PolicyRequired"))
        }
        if requiresPolicy && !enrollsAtLaunch {
            problems.append(
                SettingProblem(
                    key: "PolicyRequired", message: "needs AutoEnrollOnLaunch, or the app could never be opened"))
        }
        if holdsSeveralManagedIdentities && !holdsSeveralIdentities {
            problems.append(SettingProblem(key: "MultiManagedIdentities", message: "needs MultiIdentity"))
        }
        return problems
    }
}
