public import CordonIdentity
public import CordonPolicy
public import Foundation
internal import Logging

/// What a notification extension may show, as the app last said (SDK-NO-03): an extension is a process of its own, which has
/// no rules of its own.
///
/// No value, a damaged one, or one that was not sealed by the group is the most restrictive (CQ-24). A wipe of the account
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
        await Self.said(of: account, in: group) ?? .block
    }

    /// What the group was told last, if it opens; every reader of the group finds the same.
    static func said(of account: AccountID, in group: GroupVault) async -> NotificationLevel? {
        guard let sealed = try? file(of: account, in: group).read(),
            let (name, _) = try? await group.open(sealed, of: account, as: .notifications)
        else { return nil }
        return NotificationLevel(rawValue: name)
    }

    static func file(of account: AccountID, in group: GroupVault) -> StateFile {
        group.folder.file("notifications-" + FolderName.of(account))
    }
}

extension AppProtection {
    /// Says to the extensions of the group what notifications may show, for every enrolled account.
    ///
    /// An app with a ``SharingGroup`` need not call it: Cordon does so itself at the start, after enrolment and whenever
    /// rules are put in force. It is for an app that wants to know whether the values could be written.
    ///
    /// - Throws: ``ProtectionError``: `noSharingGroup`, `vault`, or `stateUnwritable`.
    public func publishNotificationLevels() async throws(ProtectionError) {
        for account in records.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            try await publishNotificationLevel(of: account, to: group())
        }
    }

    /// Says to the group's extensions what the rules now in force let notifications show; what cannot be said is ended, so
    /// that no milder value stays.
    func publishToExtensions(of account: AccountID) async {
        guard let groupVault, !configuration.isExtension, records[account] != nil else { return }
        do throws(ProtectionError) { try await publishNotificationLevel(of: account, to: groupVault) } catch {
            configuration.logger.warning(
                "the extensions could not be told what notifications may show", metadata: ["reason": "\(error.reason)"])
            endNotificationLevel(of: account)
        }
    }

    /// What opens and says so already is not said again at every start. Rules may change while it is sealed: only what they
    /// say at the end is left behind.
    private func publishNotificationLevel(
        of account: AccountID, to group: GroupVault
    ) async throws(ProtectionError) {
        while records[account] != nil {
            let level = notificationLevel(of: account)
            var news: Data?
            if await NotificationLevels.said(of: account, in: group) != level {
                news = try await group.seal(Data(), named: level.rawValue, for: account, as: .notifications)
            }
            guard level == notificationLevel(of: account), records[account] != nil else { continue }
            if let news { try NotificationLevels.file(of: account, in: group).write(news) }
            return
        }
    }

    private nonisolated func notificationLevel(of account: AccountID) -> NotificationLevel {
        switch decision(for: Question(.notify, owner: .managed(account))).verdict {
        case .allow, .warn: .allow
        case .restrict: .blockOrganizationalData
        case .block, .wipe: .block
        }
    }

    /// Ends the value of an account that is not here any more: without one nothing is shown.
    func endNotificationLevel(of account: AccountID) {
        guard let groupVault else { return }
        do throws(ProtectionError) { try NotificationLevels.file(of: account, in: groupVault).remove() } catch {
            configuration.logger.error(
                "what notifications may show could not be ended", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Ends what the group has of an account; what could not be ended goes into the receipt, and keeps nothing else.
    func forgetGroup(_ account: AccountID) async -> [String] {
        guard let groupVault else { return [] }
        do throws(ProtectionError) {
            try NotificationLevels.file(of: account, in: groupVault).remove()
            try await groupVault.forget(account)
            return []
        } catch { return ["what the organisation's apps share was not removed"] }
    }
}
