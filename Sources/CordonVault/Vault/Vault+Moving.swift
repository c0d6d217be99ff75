internal import CordonIdentity
public import Foundation

extension Vault {
    /// Moves or renames a file; its owner stays (CQ-20). What was at the target is replaced.
    ///
    /// A sealed file may as well be moved by other means; a readable one would lose its noted owner.
    ///
    /// - Throws: ``VaultError`` when the system refuses.
    public func move(_ path: URL, to target: URL) throws(VaultError) {
        let noted = register.owner(of: path)
        try register.setOwner(noted, of: target)
        try PosixFile.rename(path.path, to: target.path)
        try PosixFile.syncDirectory(target.deletingLastPathComponent().path)
        if noted != nil { try register.setOwner(nil, of: path) }
    }

    /// Copies a file; the copy has the same owner, and a sealed one a key of its own (CQ-20).
    ///
    /// - Throws: ``VaultError``: for a sealed file what ``open(_:writing:recovering:)`` throws.
    public func copy(_ path: URL, to target: URL) async throws(VaultError) {
        if let owner = facts(of: path)?.owner {
            var state = ProtectionProgress()
            try await seal(path, to: target, for: owner, &state) { _ in }
            return try register.setOwner(nil, of: target)
        }
        try register.setOwner(register.owner(of: path), of: target)
        do {
            if FileManager.default.fileExists(atPath: target.path) { try FileManager.default.removeItem(at: target) }
            try FileManager.default.copyItem(at: path, to: target)
        } catch {
            throw VaultError(.inputOutput, "The file cannot be copied.", place: path.path)
        }
    }

    /// Gives a file a second name; both have the same owner (CQ-20).
    ///
    /// - Throws: `alreadyExists`, or what the system refuses.
    public func link(_ path: URL, as name: URL) throws(VaultError) {
        try register.setOwner(register.owner(of: path), of: name)
        try PosixFile.hardLink(path.path, as: name.path)
        try PosixFile.syncDirectory(name.deletingLastPathComponent().path)
    }

    /// Puts the content of a file in place of another, in one step; the target keeps its own owner and stays sealed if it
    /// was (CQ-20). The source is gone afterwards.
    ///
    /// - Throws: ``VaultError``: what ``open(_:writing:recovering:)`` and
    ///   ``create(_:for:chunkSize:replacing:mode:)`` throw.
    public func replace(_ target: URL, by path: URL) async throws(VaultError) {
        let sealedOwner = facts(of: target)?.owner
        let owner = owner(of: target)
        guard facts(of: path)?.owner != sealedOwner || sealedOwner == nil else { return try move(path, to: target) }
        if let sealedOwner {
            var state = ProtectionProgress()
            try await seal(path, to: target, for: sealedOwner, &state) { _ in }
            PosixFile.remove(path.path)
            return try register.setOwner(nil, of: path)
        }
        if facts(of: path) != nil { try await decrypt(path) }
        try move(path, to: target)
        try register.setOwner(owner, of: target)
    }
}
