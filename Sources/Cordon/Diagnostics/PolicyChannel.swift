public import CordonIdentity
internal import CordonPolicy

/// How an account's rules came to this app, for logs; the field's numbers (SDK-CO-09).
public enum PolicyChannel: Int, Sendable, Codable, CaseIterable {
    /// By the device's management; Cordon has no such channel, and never gives this one.
    case deviceManagement = 0
    /// From the organisation's service, for this app.
    case appManagement = 1
    /// Neither: debug policies.
    case other = 2
}

extension AppProtection {
    /// How the rules of an account came here; nil where none are in force. For logs only: nothing is decided by it.
    public func policyChannel(of account: AccountID) -> PolicyChannel? {
        guard policy(of: .managed(account)) != nil else { return nil }
        return accounts.debugged == account ? .other : .appManagement
    }
}
