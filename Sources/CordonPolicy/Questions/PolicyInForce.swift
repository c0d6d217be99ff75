/// A policy made ready for questions: looked up once, shared, never changed.
final class PolicyInForce: Sendable {
    let effective: EffectivePolicy
    /// Whether it denies everything, whatever its settings say.
    let isDamaged: Bool
    /// Whether it stands for a policy that cannot be read.
    let isUnreadable: Bool
    /// App configuration that lifts the screen capture block (SDK-DT-30).
    let screenCaptureAllowed: Bool
    let exemptLinks: LinkPatterns
    let managedLinks: LinkPatterns

    init(_ effective: EffectivePolicy, configuration: AppConfiguration?, isUnreadable: Bool = false) {
        self.effective = effective
        self.isUnreadable = isUnreadable
        isDamaged = isUnreadable || !effective.policy.unknownCritical.isEmpty
        screenCaptureAllowed = configuration?.liftsScreenCaptureBlock ?? false
        exemptLinks = LinkPatterns(effective.policy.transfer.exemptUniversalLinks)
        managedLinks = LinkPatterns(effective.policy.transfer.managedUniversalLinks)
    }

    var transfer: DataTransferRules { _read { yield effective.policy.transfer } }
    var access: AccessRequirements { _read { yield effective.policy.access } }
    var launch: ConditionalLaunch { _read { yield effective.policy.launch } }
    var storage: StorageRules { _read { yield effective.policy.storage } }

    /// A setting's value for a reason: as the policy has it, and whether this version knows it.
    func value(of setting: String) -> (json: JSONValue, isKnown: Bool)? {
        guard let setting = Setting.named(setting) else { return nil }
        if let unknown = effective.policy.unknownValue(of: setting) { return (unknown, false) }
        return (setting.write(effective.policy), true)
    }
}
