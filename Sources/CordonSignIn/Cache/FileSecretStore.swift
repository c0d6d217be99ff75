internal import CordonBase
public import Foundation

/// Secrets as files that only this user can read (mode 0600). A folder that the store creates has mode 0700; an existing one may let
/// others list the files' names.
///
/// Software protection: a process that can read this user's files, or restores a backup of this folder, has the
/// secrets. Keep the folder apart from the token cache's and out of backups; then a restored cache cannot be
/// opened (SI-206, SI-207).
public struct FileSecretStore: SecretStore {
    private static let longest = 4_096

    private let directory: URL

    /// Opens a store in the folder, creating it if needed. Files directly in the folder belong to the store: Cordon protects no file of the app
    /// there.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the folder cannot be created, belongs to another user, or others can write to it.
    public init(directory: URL) throws(SignInError) {
        self.directory = directory
        try TokenStoreFile.makeFolder(directory)
        StatePlaces.add(directory)
    }

    /// Always false.
    public var isHardwareBacked: Bool { false }

    /// The secret with the name.
    public func secret(named name: String) throws(SignInError) -> Data? {
        let secret = try TokenStoreFile.read(file(name), limit: Self.longest)
        // Zeros are what a process leaves that is killed between overwriting a secret and removing its file.
        return secret.flatMap { bytes in bytes.contains { $0 != 0 } ? bytes : nil }
    }

    /// Writes the secret atomically.
    public func keep(_ secret: Data, named name: String) throws(SignInError) {
        try TokenStoreFile.replace(file(name), with: secret)
    }

    /// Overwrites and deletes the secret's file.
    public func destroy(named name: String) throws(SignInError) {
        try TokenStoreFile.overwriteAndRemove(file(name), limit: Self.longest)
    }

    private func file(_ name: String) -> URL {
        let safe = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "_" })
        return directory.appending(path: safe + ".key", directoryHint: .notDirectory)
    }
}
