/// One setting that would answer a question otherwise; for the help desk, which tells an administrator what to look at.
public struct SettingChange: Sendable, Equatable, Codable {
    /// The setting's JSON property.
    public let setting: String
    /// Its value now.
    public let from: JSONValue
    /// The value with which people may go on.
    public let to: JSONValue
    /// The answer then.
    public let verdict: Verdict

    /// Names a change.
    public init(setting: String, from: JSONValue, to: JSONValue, verdict: Verdict) {
        self.setting = setting
        self.from = from
        self.to = to
        self.verdict = verdict
    }
}

extension AppProtectionPolicy {
    /// The changes of a single setting after which people may go on, found by trying each value of each setting that has few;
    /// the strictest answer of each setting. Empty where they may go on already, or no one setting suffices.
    ///
    /// The question is put to this policy alone, for every managed account.
    public func changes(allowing question: Question) -> [SettingChange] {
        guard !PolicySet(self).verdict(for: question).permits, case .object(let members) = graphJSON else { return [] }
        return Setting.all.compactMap { setting in
            let now = setting.write(self)
            let found = values(of: setting, like: now).compactMap { value -> SettingChange? in
                var changed = members
                changed[setting.name] = value
                guard value != now, let policy = try? AppProtectionPolicy(graphJSON: .object(changed)) else {
                    return nil
                }
                let verdict = PolicySet(policy).verdict(for: question)
                guard verdict.permits else { return nil }
                return SettingChange(setting: setting.name, from: now, to: value, verdict: verdict)
            }
            return found.max { $0.verdict < $1.verdict }
        }
    }

    private func values(of setting: Setting, like value: JSONValue) -> [JSONValue] {
        switch value {
        case .bool: return [true, false]
        case .array(let list):
            // One more exception of a list of names, such as a place.
            return setting.names.map { .array(list + [.string($0)]) }
        default: return setting.names.map { .string($0) } + [.null]
        }
    }
}
