internal import CordonPolicy
internal import Logging

extension DebugPolicies {
    /// Puts the configuration's debug policies in force where they may act, and says why where they may not.
    ///
    /// - Throws: ``ProtectionError`` where the account's files cannot be opened.
    nonisolated(nonsending) static func activate(
        in context: ProtectionContext, opening files: AccountFiles
    ) async throws(ProtectionError) {
        let configuration = context.configuration
        guard let debug = configuration.debugPolicies else { return }
        guard configuration.buildKind == .debug else { return refuse("this is a release build", in: context) }
        guard context.settings.allowsDebugPolicies else { return refuse("DebugSettingsEnabled is off", in: context) }
        guard context.accounts[debug.account] == nil else {
            return refuse("a service has rules for the account", in: context)
        }
        let (policy, warnings) = debug.policy
        for warning in warnings {
            configuration.logger.warning("a debug policy was left aside", metadata: ["setting": "\(warning)"])
            context.events.post(.settingRefused(reason: warning))
        }
        let state = AccountState(
            rules: .policy(EffectivePolicy(policy)), sequence: 0, lastCheckIn: configuration.clock.now())
        context.accounts.activateDebugRules(state, of: debug.account)
        try await files.open(debug.account)
        configuration.logger.warning("debug policies are in force; no service stands behind them")
    }

    private static func refuse(_ why: String, in context: ProtectionContext) {
        context.configuration.logger.error("debug policies are ignored", metadata: ["reason": "\(why)"])
        context.events.post(.settingRefused(reason: "Debug policies are ignored: \(why)."))
    }
}
