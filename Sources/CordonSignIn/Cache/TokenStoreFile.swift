internal import CordonBase
package import Foundation

/// The files of a token store: durable, and each with one draft of a fixed name, so that a crash leaves at most one behind and
/// the file's removal finds it (SI-205).
package enum TokenStoreFile {
    /// Makes the folder of a store, which only this user can enter, or takes one of this user's that no one else can write to.
    package static func makeFolder(_ folder: URL) throws(SignInError) {
        do { try DurableFile.makePrivateFolder(folder) } catch {
            guard error.number == EPERM else {
                throw SignInError(.storage, .storeUnavailable, "the token store's folder cannot be made")
            }
            throw SignInError(
                .storage, .storeUnavailable,
                "the token store's folder belongs to another user, or others can write to it",
                hint: "Give the folder to this user and set its mode to 0700.")
        }
    }

    /// Makes a folder that was removed under a running process: a sign-out works without what was in it.
    static func makeFolderAgain(_ folder: URL) throws(SignInError) {
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        try makeFolder(folder)
    }

    /// The bytes of a file, nil when there is none.
    ///
    /// - Throws: ``SignInError`` with fault `storeUnavailable` for what cannot be read, or is longer than the limit: that
    ///   is neither an empty file nor none.
    package static func read(_ file: URL, limit: Int) throws(SignInError) -> Data? {
        do { return try DurableFile.read(file, limit: limit) } catch {
            throw failure(error.number == EFBIG ? "read, it is too large" : "read", error)
        }
    }

    /// The bytes of a file that a listing has named; nil for what no store has written: a folder, a pipe, a link, a file
    /// above the limit. Whoever can write into the folder can put one there, and it hides none of the others.
    ///
    /// - Throws: ``SignInError`` with fault `storeUnavailable` for a file that cannot be read just now: it may be a good one.
    package static func readListed(_ file: URL, limit: Int) throws(SignInError) -> Data? {
        do { return try DurableFile.read(file, limit: limit) } catch {
            // A link is `ELOOP`, a socket `ENXIO` or, on Apple platforms, `EOPNOTSUPP`.
            guard [EINVAL, EFBIG, ELOOP, ENXIO, EOPNOTSUPP].contains(error.number) else {
                throw failure("read", error)
            }
            return nil
        }
    }

    /// The first bytes of a file, however long it is; nil when there is none.
    static func head(of file: URL, _ count: Int) throws(SignInError) -> Data? {
        do { return try DurableFile.head(of: file, count) } catch { throw failure("read", error) }
    }

    /// Replaces a file as a whole; a folder that was removed meanwhile is made again.
    package static func replace(_ file: URL, with bytes: Data) throws(SignInError) {
        try makeFolderAgain(file.deletingLastPathComponent())
        do { try DurableFile.replace(file, with: bytes, by: draft(of: file)) } catch {
            throw failure("written", error)
        }
    }

    /// Deletes a file and its draft durably; one that is not there counts as deleted.
    ///
    /// - Parameter isDurable: False where something else makes the folder durable right after.
    package static func remove(_ file: URL, isDurable: Bool = true) throws(SignInError) {
        do {
            try DurableFile.remove(draft(of: file))
            try DurableFile.remove(file)
            if isDurable { try DurableFile.synchronize(file.deletingLastPathComponent()) }
        } catch {
            // In a folder that is not there nothing is left to delete.
            guard error.number != ENOENT else { return }
            throw failure("deleted", error)
        }
    }

    /// Overwrites a secret's file before deleting it; one that cannot be overwritten is deleted all the same.
    ///
    /// A file of zeros counts as none, so once its zeros are on the disk its deletion need not be: a sign-out, which destroys several
    /// secrets, would wait for the disk twice for each.
    ///
    /// - Parameter limit: How long a secret is at most.
    static func overwriteAndRemove(_ file: URL, limit: Int) throws(SignInError) {
        let isEmpty = DurableFile.overwrite(file, secretLimit: limit)
        let isDraftEmpty = DurableFile.overwrite(draft(of: file), secretLimit: limit)
        try remove(file, isDurable: !(isEmpty && isDraftEmpty))
    }

    private static func draft(of file: URL) -> URL {
        file.deletingLastPathComponent().appending(
            path: ".\(file.lastPathComponent)\(draftSuffix)", directoryHint: .notDirectory)
    }

    private static let draftSuffix = ".new"

    /// The name of the file that a listed name is, or is the draft of.
    static func name(of listed: String) -> String {
        listed.hasPrefix(".") && listed.hasSuffix(draftSuffix)
            ? String(listed.dropFirst().dropLast(draftSuffix.count)) : listed
    }

    private static func failure(_ verb: String, _ failure: FileFailure) -> SignInError {
        SignInError(
            .storage, .storeUnavailable, "a file of the token store could not be \(verb) (errno \(failure.number))")
    }
}
