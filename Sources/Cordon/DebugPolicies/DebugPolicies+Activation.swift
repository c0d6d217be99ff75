internal import CordonIdentity
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
        if let obstacle = obstacle(in: context) { return refuse(obstacle, in: context) }
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

    /// The account that the configuration's debug policies are for, where they may act: it has a key, and no registration.
    static func account(in context: ProtectionContext) -> AccountID? {
        obstacle(in: context) == nil ? context.configuration.debugPolicies?.account : nil
    }

    /// Why no debug policies may act here; nil where they may.
    private static func obstacle(in context: ProtectionContext) -> String? {
        if context.configuration.buildKind != .debug { return "this is a release build" }
        return context.settings.allowsDebugPolicies ? nil : "DebugSettingsEnabled is off"
    }

    private static func refuse(_ why: String, in context: ProtectionContext) {
        context.configuration.logger.error("debug policies are ignored", metadata: ["reason": "\(why)"])
        context.events.post(.settingRefused(reason: "Debug policies are ignored: \(why)."))
    }
}
