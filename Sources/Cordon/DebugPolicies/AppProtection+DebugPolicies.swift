internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import Logging

extension AppProtection {
    /// Puts debug policies in force where they may act, and says why where they may not.
    func applyDebugPolicies() async throws(ProtectionError) {
        guard let debug = configuration.debugPolicies else { return }
        guard configuration.buildKind == .debug else { return refuseDebugPolicies("this is a release build") }
        guard settings.allowsDebugPolicies else { return refuseDebugPolicies("DebugSettingsEnabled is off") }
        guard records[debug.account] == nil else {
            return refuseDebugPolicies("a service has rules for the account")
        }
        let (policy, warnings) = debug.policy
        for warning in warnings {
            configuration.logger.warning("a debug policy was left aside", metadata: ["setting": "\(warning)"])
            broadcast.post(.settingRefused(reason: warning))
        }
        let standing = AccountState(
            rules: .policy(EffectivePolicy(policy)), sequence: 0, lastCheckIn: configuration.clock.now())
        accounts.activateDebugRules(standing, of: debug.account)
        try await open(debug.account)
        configuration.logger.warning("debug policies are in force; no service stands behind them")
    }

    private func refuseDebugPolicies(_ why: String) {
        configuration.logger.error("debug policies are ignored", metadata: ["reason": "\(why)"])
        broadcast.post(.settingRefused(reason: "Debug policies are ignored: \(why)."))
    }
}
