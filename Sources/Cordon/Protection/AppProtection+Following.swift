internal import CordonBase
internal import CordonIdentity

/// Has the parts follow when an account changes.
extension AppProtection: AccountFollower {
    private var parts: [any AccountFollower] { [group, gate, settings, files] }

    func rulesChanged(of account: AccountID, from before: AccountState?, to now: AccountState) async {
        for part in parts { await part.rulesChanged(of: account, from: before, to: now) }
    }

    func publishRules(of account: AccountID) async {
        for part in parts { await part.publishRules(of: account) }
    }

    func open(_ account: AccountID) async throws(ProtectionError) {
        for part in parts { try await part.open(account) }
    }

    func accountRefused(_ account: AccountID) async {
        for part in parts { await part.accountRefused(account) }
    }

    func resetPIN(of account: AccountID) async -> Bool {
        for part in parts where await part.resetPIN(of: account) { return true }
        return false
    }

    func accountLeft(_ account: AccountID) async {
        for part in parts { await part.accountLeft(account) }
        denials.forget(account)
    }

    func eraseLogs(of account: ManagedAccount) async -> [String] {
        configuration.logFile?.forget([account.id.rawValue, account.userPrincipalName])
        return removeLogs(of: account.id)
    }

    func eraseState(of account: AccountID) async throws(ProtectionError) -> [String] {
        var failures: [String] = []
        for part in parts { failures += try await part.eraseState(of: account) }
        return failures
    }

    func endEnrollment(of account: AccountID) async throws(ProtectionError) {
        for part in parts { try await part.endEnrollment(of: account) }
    }
}
