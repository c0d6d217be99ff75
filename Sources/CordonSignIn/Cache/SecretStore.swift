public import Foundation

/// Keeps small secrets: the keys that session files are sealed with (SI-204).
///
/// Callers serialise access per name, but may call from any thread.
public protocol SecretStore: Sendable {
    /// Whether hardware keeps the secrets. Administrators see false as `software_key`.
    var isHardwareBacked: Bool { get }

    /// The secret with the name, nil when there is none.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the store cannot be read.
    func secret(named name: String) throws(SignInError) -> Data?

    /// Keeps a secret, replacing an earlier one atomically.
    ///
    /// - Throws: ``SignInError`` with code `storage` when it could not be kept; the earlier one is then still there.
    func keep(_ secret: Data, named name: String) throws(SignInError)

    /// Destroys a secret; a missing one counts as destroyed.
    ///
    /// - Throws: ``SignInError`` with code `storage` when it may still be there.
    func destroy(named name: String) throws(SignInError)
}
