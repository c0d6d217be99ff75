internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonVault
internal import Foundation
internal import Logging

/// What has no registration any more, and so no journal, no receipt and no service that waits for one: it is removed, and asked for again
/// until it is gone.
extension Wipes {
    /// Such a removal that goes on in this process, and what is asked of it while that cannot be noted.
    struct Removal {
        /// The id under which observers were told that it began.
        let id: String
        /// Whether the account's session is to be ended.
        var endsSession: Bool
        /// Whether the account is to be taken from those to enrol.
        var unregisters: Bool
        /// Whether the disk tells of it, too.
        var isNoted = false
    }

    /// The accounts of whose removal this process alone knows.
    var unnoted: Set<AccountID> { Set(unregistered.filter { !$0.value.isNoted }.keys) }

    /// Removes all data of an account whose key is still here and whose registration is gone. No receipt is due: the service asks for wipes of
    /// registrations only. The caller holds the account's turn, so that nothing enrols it meanwhile.
    ///
    /// - Parameter isAskedFor: Whether a person or the app asks for it now. A retry keeps the session and registration begun since.
    /// - Throws: ``ProtectionError``: `wipeUnderWay`, `stateUnwritable`, `stateUnreadable` or `vault`.
    func wipeUnregistered(_ account: AccountID, isAskedFor: Bool) async throws(ProtectionError) {
        guard let lock = try StateLock.take(context.wipes.lock(of: account)) else { throw Self.underWay }
        defer { lock.end() }
        if let stored = try context.accounts.stored(account), !context.pending.hasLeft(stored) {
            throw ProtectionError(.stateUnreadable, "the account was enrolled meanwhile", hint: "Sign out again.")
        }
        // A vault's note alone does not say how far it came.
        var removal =
            unregistered[account]
            ?? Removal(
                id: ownCommand(for: account).id, endsSession: context.pending.leaving?.contains(account) != true,
                unregisters: false)
        if isAskedFor { (removal.endsSession, removal.unregisters) = (true, true) }
        let unregisters = removal.unregisters
        let endsSession = removal.endsSession || context.pending.leavingSessions?.contains(account) == true
        let noted: Void? = try? context.pending.change { work in
            // Nothing enrols it again by itself (SDK-EN-19).
            if unregisters { work.unregister(account) }
            work.beginLeaving(account, withSession: endsSession)
        }
        // What cannot be noted is done all the same, and is asked for again where it fails.
        removal.isNoted = noted != nil
        if removal.isNoted { (removal.endsSession, removal.unregisters) = (false, false) }
        context.accounts.beginRemoval(of: account)
        defer { context.accounts.endRemoval(of: account) }
        if unregistered.updateValue(removal, forKey: account) == nil {
            context.events.post(.wipeStarted(account: account, commandID: removal.id))
        }
        await changes.release(account)
        var failures: [String] = []
        for vault in context.vaults {
            do { failures += try await vault.wipeAnew(account).failures } catch { throw ProtectionError(error) }
        }
        let gone = ManagedAccount(id: account, tenant: TenantID(""), userPrincipalName: "")
        // What has to be waited for throws; what is left besides would be for a receipt.
        let rest = try await changes.erase(gone)
        failures += removeFolders(of: account)
        if case .failed(let reason) = await appPart(of: gone) { failures.append(reason) }
        for failure in rest + failures {
            context.configuration.logger.warning("something of an account stays", metadata: ["reason": "\(failure)"])
        }
        if endsSession {
            try await endSession(of: account)
            unregistered[account]?.endsSession = false
            try? context.pending.change { work in work.leavingSessions?.removeAll { $0 == account } }
        }
        if let failure = failures.first { throw ProtectionError(.stateUnwritable, failure) }
        try context.pending.change { work in
            let registered = work.registered
            work.forget(account)
            if !unregisters { work.registered = registered }
        }
        try context.accounts.removeStored(account)
        unregistered[account] = nil
        publishFinished(of: account, removal.id, succeeded: true)
    }

    /// An account is enrolled again: what removes it later is another wipe than one that has not come to its end.
    func noteEnrollment(of account: AccountID) { unregistered[account] = nil }

    /// Goes on with what a kill or a failure has left of removing an account without a registration.
    ///
    /// - Parameter held: The account whose turn the caller has.
    func resumeUnregistered(_ account: AccountID, inTurnOf held: AccountID?) async {
        // What is to be removed is the app's: an extension would leave its own part.
        guard !context.configuration.isExtension else { return }
        // Who has its turn enrols or removes it, and may wait for a turn that the caller has: the next round looks again.
        guard account == held || !context.exchanges.isRunning(account) else { return }
        do {
            try await context.exchanges.run(account) { () async throws(ProtectionError) in
                // An enrolment takes over what was leaving, also one by another process.
                if context.accounts[account] != nil { return noteEnrollment(of: account) }
                guard try context.accounts.stored(account) == nil else { return }
                var isLeft = unnoted.contains(account) || context.pending.leaving?.contains(account) == true
                if !isLeft { isLeft = await context.notedWipes().accounts.contains(account) }
                guard isLeft else { return }
                try await context.uninterrupted { () async throws(ProtectionError) in
                    try await self.wipeUnregistered(account, isAskedFor: false)
                }
            }
        } catch {
            context.configuration.logger.error(
                "an account's data is not removed yet",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }
}
