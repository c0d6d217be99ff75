internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// A part of the protection that keeps something of an account, and is told when the account's rules or the account itself
/// change. Every part runs on the ``ProtectionDomain``, so that nothing runs between a change and what follows from it.
protocol AccountFollower: Actor {
    /// Another process of the app may have stored something since the last look.
    func takeUpStored() async

    /// Rules were put in force in place of others; decisions follow them already.
    func rulesChanged(of account: AccountID, from before: AccountState?, to now: AccountState) async

    /// Everything that new rules bring is in force, or everything is denied: what other processes are told may be told.
    func publishRules(of account: AccountID) async

    /// The account's key is to be made or unlocked, and its folder to be opened.
    ///
    /// - Throws: ``ProtectionError`` where that cannot be; the account is denied everything then.
    func open(_ account: AccountID) async throws(ProtectionError)

    /// The service refuses the account as disabled.
    func accountRefused(_ account: AccountID) async

    /// Everything of the account is denied until it is known again what holds, and its key goes.
    func accountClosed(_ account: AccountID) async

    /// The account's PIN does not count any more.
    ///
    /// - Parameter isForced: Whether it goes also where it is all that opens the account's files.
    /// - Returns: Whether it was taken away.
    func resetPIN(of account: AccountID, evenIfFilesAreLost isForced: Bool) async -> Bool

    /// An administrator asks for logs.
    ///
    /// - Returns: Whether this part has noted all of it.
    func logsRequested(_ requests: [LogRequest], of account: AccountID) async -> Bool

    /// The account is not enrolled here any more: nothing of it stays in memory.
    ///
    /// - Parameter before: What was known of its rules until now.
    func accountLeft(_ account: AccountID, from before: AccountState?) async

    /// The logs and what waits to be sent of them forget the account.
    ///
    /// - Returns: What could not be removed, without names.
    func eraseLogs(of account: ManagedAccount) async -> [String]

    /// What the device keeps of the account beside its sealed files goes; part of a wipe, repeated where it fails.
    ///
    /// - Returns: What could not be removed and keeps nothing else, for the receipt.
    /// - Throws: ``ProtectionError`` where the wipe has to wait for it.
    func eraseState(of account: AccountID) async throws(ProtectionError) -> [String]

    /// A wipe has ended the account's sign-in, and forgets the account next; repeated where it fails.
    ///
    /// - Throws: ``ProtectionError`` where the wipe has to wait for it.
    func sessionEnded(of account: AccountID) async throws(ProtectionError)

    /// The account has left without a wipe: what is only of use while it is enrolled goes.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func endEnrollment(of account: AccountID) async throws(ProtectionError)

    /// What has fallen due is done now, each thing once.
    ///
    /// - Parameter isFirst: Whether this is the first time since the start.
    func performDueWork(isFirst: Bool) async

    /// When what waits here is tried again; nothing where nothing waits.
    func nextAttempts() async -> [Date]
}

/// A part takes up what concerns it.
extension AccountFollower {
    func takeUpStored() async {}
    func rulesChanged(of account: AccountID, from before: AccountState?, to now: AccountState) async {}
    func publishRules(of account: AccountID) async {}
    func open(_ account: AccountID) async throws(ProtectionError) {}
    func accountRefused(_ account: AccountID) async {}
    func accountClosed(_ account: AccountID) async {}
    func resetPIN(of account: AccountID, evenIfFilesAreLost isForced: Bool) async -> Bool { false }
    func logsRequested(_ requests: [LogRequest], of account: AccountID) async -> Bool { false }
    func accountLeft(_ account: AccountID, from before: AccountState?) async {}
    func eraseLogs(of account: ManagedAccount) async -> [String] { [] }
    func eraseState(of account: AccountID) async throws(ProtectionError) -> [String] { [] }
    func sessionEnded(of account: AccountID) async throws(ProtectionError) {}
    func endEnrollment(of account: AccountID) async throws(ProtectionError) {}
    func performDueWork(isFirst: Bool) async {}
    func nextAttempts() async -> [Date] { [] }
}
