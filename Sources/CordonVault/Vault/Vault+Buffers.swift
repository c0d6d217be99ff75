public import CordonIdentity
public import Foundation

extension Vault {
    /// Protects bytes for an account (SDK-DP-01, SDK-DP-02, SDK-DP-03).
    ///
    /// - Parameters:
    ///   - bytes: at least one.
    ///   - account: the owner.
    ///   - sealing: false for an account without protection: the bytes stay readable behind a header naming the owner.
    /// - Throws: `empty`, `locked`, `unknownAccount`, `wiped`, `sealingFailed`.
    public func protect(_ bytes: Data, for account: AccountID, sealing: Bool = true) throws(VaultError) -> Data {
        guard !bytes.isEmpty else { throw VaultError(.empty, "There is nothing to protect.") }
        guard sealing else { return try ProtectedBuffer.tag(bytes, for: account) }
        return try ProtectedBuffer.seal(bytes, under: try key(for: account))
    }

    /// The bytes that were protected; what does not come from ``protect(_:for:sealing:)-(Data,_,_)`` comes back
    /// unchanged (SDK-DP-06, CQ-16).
    ///
    /// - Parameter demanding: throw `notProtected` for foreign bytes instead.
    /// - Throws: `damaged`, `unsupportedFormat`, `wrongKey`, `locked`, `unknownAccount`, `wiped`; never part of the
    ///   bytes.
    public func unprotect(_ bytes: Data, demanding: Bool = false) throws(VaultError) -> Data {
        guard ProtectedBuffer.isClaimed(by: bytes) else {
            if demanding { throw VaultError(.notProtected, "The bytes carry no protection.") }
            return bytes
        }
        let head = try ProtectedBuffer.head(of: bytes)
        return switch head.kind {
        case .plain: try ProtectedBuffer.untag(bytes, head)
        case .sealed: try ProtectedBuffer.open(bytes, head, under: try key(for: head.owner))
        }
    }

    /// The bytes that were sealed for an account: for whoever must know that the account's key was used.
    ///
    /// - Throws: `notProtected` for anything without a seal, a readable buffer that only names the account included;
    ///   `wrongKey` for what was sealed for another account; else what ``unprotect(_:demanding:)-(Data,_)`` throws.
    public func unseal(_ bytes: Data, of account: AccountID) throws(VaultError) -> Data {
        guard ProtectedBuffer.isClaimed(by: bytes) else {
            throw VaultError(.notProtected, "The bytes carry no protection.")
        }
        let head = try ProtectedBuffer.head(of: bytes)
        guard head.kind == .sealed else { throw VaultError(.notProtected, "The bytes are named, but not sealed.") }
        guard head.owner == account else { throw VaultError(.wrongKey, "The bytes are sealed for another account.") }
        return try ProtectedBuffer.open(bytes, head, under: try key(for: account))
    }

    /// Protects text; the result is the base64 form of the protected buffer (SDK-DP-05).
    ///
    /// - Throws: what ``protect(_:for:sealing:)-(Data,_,_)`` throws.
    public func protect(_ text: String, for account: AccountID, sealing: Bool = true) throws(VaultError) -> String {
        try protect(Data(text.utf8), for: account, sealing: sealing).base64EncodedString()
    }

    /// The text that was protected; other text comes back unchanged (SDK-DP-06).
    ///
    /// - Throws: what ``unprotect(_:demanding:)-(Data,_)`` throws.
    public func unprotect(_ text: String, demanding: Bool = false) throws(VaultError) -> String {
        guard let bytes = Self.buffer(in: text) else {
            if demanding { throw VaultError(.notProtected, "The text carries no protection.") }
            return text
        }
        let content = try unprotect(bytes, demanding: true)
        guard let text = String(validating: content, as: UTF8.self) else {
            throw VaultError(.damaged, "The protected bytes are not text.")
        }
        return text
    }

    /// The owner that a protected buffer names, sealed or not; nil for anything else (SDK-DP-04).
    public nonisolated func owner(ofBuffer bytes: Data) -> AccountID? {
        guard ProtectedBuffer.isClaimed(by: bytes) else { return nil }
        return try? ProtectedBuffer.head(of: bytes).owner
    }

    /// The owner that protected text names; nil for anything else (SDK-DP-04).
    public nonisolated func owner(ofText text: String) -> AccountID? {
        Self.buffer(in: text).flatMap { owner(ofBuffer: $0) }
    }

    private static func buffer(in text: String) -> Data? {
        // The magic's eight bytes as base64, as far as the next byte cannot change it.
        guard text.hasPrefix("Q09SRE9OUE"), let bytes = Data(base64Encoded: text), ProtectedBuffer.isClaimed(by: bytes)
        else { return nil }
        return bytes
    }
}
