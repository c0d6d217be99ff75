public import CordonIdentity
internal import CordonPolicy
internal import CordonVault
public import Foundation

/// What a file provider gives to the system and takes from it: copies, each with its owner, under the owner's rules (SDK-EX-04…06).
extension AccountFiles {
    /// Throws if an account's files may not be listed: its launch gate is closed, or its data is being removed.
    ///
    /// - Throws: ``ProtectionError``: `denied` with the gate's reasons, `wipeUnderWay`. Never for personal files. Any thread.
    public nonisolated func requireProviding(of owner: Identity) throws(ProtectionError) {
        guard let account = owner.account.map({ context.accounts.resolved($0) }) else { return }
        if context.accounts.isBeingWiped(account) { throw Wipes.underWay }
        try rules.requireOpenGate(for: Question(.send, owner: .managed(account)))
    }

    /// Copies a stored file for a file provider to hand out, and leaves the stored file as it is. The copy is sealed if
    /// ``EnforcedRules/mustFileProviderEncrypt(for:)`` says so, else readable with its owner noted; a wipe finds either.
    ///
    /// - Parameters:
    ///   - stored: A file; hand out a folder item by item.
    ///   - owner: The item's owner; a file noted or sealed for another account is refused.
    ///   - copy: Where the copy goes.
    /// - Throws: ``ProtectionError``: what ``requireProviding(of:)`` throws, also where the gate closes meanwhile; `noPermit` for another
    ///   account's file; `denied`; `notEnrolled`; `gateClosed`; `vault`, also for what is no ordinary file. Then there is no new copy.
    public func provide(_ stored: URL, of owner: Identity, toCopy copy: URL) async throws(ProtectionError) {
        try await whileAllowed(
            by: { () throws(ProtectionError) in try requireProviding(of: owner) },
            or: { await takeBack(copy, of: stored) },
            { () async throws(ProtectionError) in try await copyProvided(stored, of: owner, to: copy) })
    }

    private func copyProvided(_ stored: URL, of owner: Identity, to copy: URL) async throws(ProtectionError) {
        let account = owner.account.map { context.accounts.resolved($0) }
        if let noted = self.owner(of: stored), noted != account {
            throw ProtectionError(.noPermit, "the file belongs to another account than its item says")
        }
        guard !rules.mustFileProviderEncrypt(for: owner) else {
            guard let account else {
                throw ProtectionError(
                    notEnrolled: "only a file that belongs to an account can be sealed", among: context.accounts)
            }
            let vault = try vault(of: account)
            do { try await vault.protect(stored, toCopy: copy, for: account) } catch { throw ProtectionError(error) }
            return
        }
        guard !isSealed(stored) else { return try await decrypt(stored, toCopy: copy) }
        try await copyReadable(stored, to: copy, for: account)
    }

    /// Takes in a file that the system gives to a file provider, if the rules let the receiver take it (SDK-EX-05). A sealed file is
    /// opened into a copy and stays its owner's; anything else becomes the receiver's.
    ///
    /// - Parameters:
    ///   - file: A file; take in a folder item by item.
    ///   - receiver: The owner of the folder that the file goes to.
    ///   - copy: Where the copy goes.
    /// - Returns: The copy's owner, under whom the provider stores and lists it.
    /// - Throws: ``ProtectionError``: what ``requireProviding(of:)`` throws; `denied` with the rules' reasons; `noPermit` for a
    ///   file of another account than the receiver's; `notEnrolled`; `gateClosed`; `vault`, also for what is no ordinary file.
    public func takeProvided(
        _ file: URL, for receiver: Identity, toCopy copy: URL
    ) async throws(ProtectionError) -> Identity {
        try requireProviding(of: receiver)
        let sender = owner(of: file)
        var question = Question(.receive, owner: EffectiveIdentity(receiver))
        question.peer = sender.map { .managed($0) } ?? .unmanagedApp
        if let refusal = rules.refusal(of: question) { throw ProtectionError(denied: refusal) }
        let account = receiver.account.map { context.accounts.resolved($0) }
        // A folder shows one owner's items, and an account's data does not change hands by being moved.
        guard sender == nil || sender == account else {
            throw ProtectionError(.noPermit, "the file belongs to another account than the folder")
        }
        if isSealed(file) {
            try await decrypt(file, toCopy: copy)
        } else {
            try await copyReadable(file, to: copy, for: account)
        }
        return receiver
    }

    private func copyReadable(_ file: URL, to copy: URL, for account: AccountID?) async throws(ProtectionError) {
        // Sealed from the beginning, or noted before it has content: a kill leaves nothing readable that a wipe does not find.
        let isSealing = if let account { try await wantsSealing(for: account) } else { false }
        try await fromVault { (vault) async throws(VaultError) in
            guard let account, isSealing else { return try await vault.copyReadable(file, to: copy, owner: account) }
            try await vault.protect(file, toCopy: copy, for: account)
        }
    }
}
