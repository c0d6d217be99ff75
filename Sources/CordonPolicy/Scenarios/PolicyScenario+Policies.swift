internal import CordonIdentity

extension PolicyScenario {
    /// The scenario's policies, read by the caller, as one set; `*` is every managed account.
    /// - Throws: What `file` and `inline` throw.
    public func policySet(
        file: (String) throws -> AppProtectionPolicy, inline: (JSONValue) throws -> AppProtectionPolicy
    ) throws -> PolicySet {
        var byAccount: [AccountID: EffectivePolicy] = [:]
        var everyone: EffectivePolicy?
        for (account, source) in policies {
            let policy =
                switch source {
                case .file(let path): try file(path)
                case .inline(let json): try inline(json)
                }
            if account == "*" {
                everyone = EffectivePolicy(policy)
            } else {
                byAccount[AccountID(account)] = EffectivePolicy(policy)
            }
        }
        return PolicySet(byAccount, everyManagedAccount: everyone)
    }
}
