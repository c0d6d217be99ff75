internal import CordonIdentity
public import CordonVault
public import Foundation

/// Files whose owner is whoever the work at hand is for: no call names an account, and none can name the wrong one
/// (SDK-FP-04, CQ-20).
extension AppProtection {
    /// Makes a sealed file at a path of the app's own, for the organisation's account that the work at hand is for; what was at
    /// the path is replaced in one step (SDK-FP-04).
    ///
    /// The owner is fixed from here on: opening, appending and renaming keep it. For a file that only a policy which asks for
    /// encryption is to seal, write it and call ``protect(_:for:progress:)``.
    /// - Throws: ``ProtectionError``: `identityLost`; `notEnrolled` for personal work, which has nothing to seal, and for an account
    ///   that is not enrolled; `gateClosed` where another account's file would go while that account's gate is closed; `vault`.
    public func create(_ path: URL) async throws(ProtectionError) -> SealedFile {
        let account = try currentAccount()
        try requireFiles(of: account)
        if let owner = owner(of: path), owner != account { try requireOpenGate(forReading: owner) }
        return try await fromVault { (vault) async throws(VaultError) in try await vault.create(path, for: account) }
    }

    /// Replaces one of the account's files, or makes it, for the organisation's account that the work at hand is for; otherwise
    /// as ``write(_:as:of:)``.
    ///
    /// - Throws: ``ProtectionError``: `identityLost`, `notEnrolled`, also for personal work, or `vault`.
    public func write(_ contents: Data, as name: String) async throws(ProtectionError) {
        try await write(contents, as: name, of: currentAccount())
    }

    /// Puts a file in place of another in one step (CQ-20). In a scope of its own the work's account owns it from then on; outside
    /// every scope it has the owner that the target had, or where that was nobody, or nothing was there, its own.
    ///
    /// The source is gone afterwards. Symbolic links are replaced, not followed.
    /// - Throws: ``ProtectionError``: `notEnrolled` in a scope of personal work, where either file is an account's, and for an account
    ///   that is not enrolled; `wipeUnderWay`; `gateClosed` where a file of an account changes hands whose gate is closed; `vault`.
    public func replace(_ target: URL, by source: URL) async throws(ProtectionError) {
        let (from, before) = (owner(of: source), owner(of: target))
        let own = IdentityContext.currentScope.map { resolved(EffectiveIdentity($0)) }
        if own != nil, own?.account == nil, from != nil || before != nil {
            throw ProtectionError(.notEnrolled, "personal work takes no account's file, and replaces none")
        }
        let after = own?.account ?? before ?? from
        if let before, before != after { try requireOpenGate(forReading: before) }
        if let after { try await protect(source, for: after) }
        try await fromVault { (vault) async throws(VaultError) in try await vault.move(source, to: target) }
    }
}
