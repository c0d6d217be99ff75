internal import CordonIdentity
internal import CordonPolicy
internal import Foundation
internal import Logging

/// What the app shares with the organisation's other apps and with its own extensions: the group's vault, and what notifications may
/// show there.
actor SharedGroup: AccountFollower {
    /// What passes between this app and the organisation's others; nil where they share nothing.
    nonisolated let vault: GroupVault?
    private let context: ProtectionContext
    private let rules: EnforcedRules

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(_ context: ProtectionContext, rules: EnforcedRules) throws(ProtectionError) {
        vault =
            if let group = context.configuration.sharingGroup {
                try GroupVault(group, directory: context.configuration.dataDirectory) { [accounts = context.accounts] in
                    accounts.isStaying($0)
                }
            } else {
                nil
            }
        self.context = context
        self.rules = rules
    }

    /// The group's vault.
    ///
    /// - Throws: ``ProtectionError`` with code `noSharingGroup`.
    nonisolated func opened() throws(ProtectionError) -> GroupVault {
        guard let vault else {
            throw ProtectionError(.noSharingGroup, "this app shares nothing with the organisation's other apps")
        }
        return vault
    }

    /// - Throws: ``ProtectionError`` with code `notEnrolled`.
    nonisolated func requireEnrolled(_ account: AccountID) throws(ProtectionError) {
        guard context.accounts[account] == nil else { return }
        throw ProtectionError(.notEnrolled, "the account is not enrolled in this app")
    }

    /// Says to the extensions what notifications may show, for every enrolled account.
    ///
    /// - Throws: ``ProtectionError``: `noSharingGroup`, `vault`, or `stateUnwritable`.
    func publishNotificationLevels() async throws(ProtectionError) {
        for account in context.accounts.enrolled { try await publishNotificationLevel(of: account, to: opened()) }
    }

    /// Says to the group's extensions what the rules now in force let notifications show; what cannot be said is ended, so
    /// that no milder value stays.
    func publishRules(of account: AccountID) async {
        guard let vault, !context.configuration.isExtension, context.accounts[account] != nil else { return }
        do { try await publishNotificationLevel(of: account, to: vault) } catch {
            context.configuration.logger.warning(
                "the extensions could not be told what notifications may show",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
            endNotificationLevel(of: account)
        }
    }

    func endEnrollment(of account: AccountID) throws(ProtectionError) { try vault?.takeBackLevel(of: account) }

    /// Ends what the group has of an account, the key first: without it nothing opens that was handed over or told. A key that may still be
    /// there keeps the wipe from being done; anything else that stays goes into the receipt.
    func eraseState(of account: AccountID) async throws(ProtectionError) -> [String] {
        guard let vault else { return [] }
        var isEverythingGone = true
        do { try await vault.forget(account) } catch {
            if vault.mayKeepKey(of: account) { throw error }
            isEverythingGone = false
        }
        do { try vault.takeBackLevel(of: account) } catch { isEverythingGone = false }
        return isEverythingGone ? [] : ["what the organisation's apps share was not removed"]
    }

    /// What opens and says so already is not said again at every start. If the rules change while the value is being sealed, the loop starts
    /// over, so only the latest value is published.
    private func publishNotificationLevel(
        of account: AccountID, to group: GroupVault
    ) async throws(ProtectionError) {
        while context.accounts[account] != nil {
            let level = notificationLevel(of: account)
            var news: Data?
            if await group.notificationLevel(of: account) != level {
                news = try await group.sealed(level, of: account)
            }
            guard level == notificationLevel(of: account), context.accounts[account] != nil else { continue }
            if let news { try group.tell(news, of: account) { isOvertaken(account) } }
            return
        }
    }

    /// Whether another process of the app has stored newer rules, or has let the account leave: this one's word would stand over that one's.
    private nonisolated func isOvertaken(_ account: AccountID) -> Bool {
        guard let known = context.accounts[account], !context.accounts.hasNoRegistration(account) else { return true }
        guard let stored = try? context.accounts.stored(account) else { return false }
        return stored.generation > known.generation && stored.envelope != known.envelope
    }

    private nonisolated func notificationLevel(of account: AccountID) -> NotificationLevel {
        switch rules.verdict(for: Question(.notify, owner: .managed(account))) {
        case .allow, .warn: .allow
        case .restrict: .blockOrganizationalData
        case .block, .wipe: .block
        }
    }

    /// Ends the value of an account that is not here any more: without one nothing is shown.
    private func endNotificationLevel(of account: AccountID) {
        guard let vault else { return }
        do { try vault.takeBackLevel(of: account) } catch {
            context.configuration.logger.error(
                "what notifications may show could not be ended",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }
}
