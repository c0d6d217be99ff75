public import CordonIdentity
public import CordonPolicy
public import Foundation

/// What a notification extension may show, as the app last said (SDK-NO-03): an extension is a process of its own, which has
/// no rules of its own.
///
/// No value, a damaged or an older one, or one that was not sealed by the group is the most restrictive (CQ-24). A wipe of the account
/// ends its value, and so does leaving.
public struct NotificationLevels: Sendable {
    private let group: GroupVault

    /// Opens the values of a group.
    ///
    /// - Parameters:
    ///   - group: The same as the app's.
    ///   - dataDirectory: A folder of the extension's own.
    /// - Throws: ``ProtectionError``: `vault` or `stateUnwritable`.
    public init(_ group: SharingGroup, dataDirectory: URL) throws(ProtectionError) {
        self.group = try GroupVault(group, directory: dataDirectory)
    }

    /// What a notification for the account may show.
    public func level(for account: AccountID) async -> NotificationLevel {
        await group.notificationLevel(of: account) ?? .block
    }
}
