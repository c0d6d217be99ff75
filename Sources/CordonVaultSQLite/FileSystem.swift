internal import CordonSQLiteShim
internal import CordonVault
internal import Foundation

/// A file system for SQLite, from its making to its end.
final class FileSystem: Sendable {
    // Made once and only handed to SQLite, which locks its list of file systems; hence the opt-out.
    nonisolated(unsafe) private let vfs: UnsafeMutablePointer<sqlite3_vfs>

    init(
        _ name: String, over base: UnsafeMutablePointer<sqlite3_vfs>?, host: FileSystemHost
    ) throws(VaultError) {
        guard let base else { throw Self.refused }
        let beside = try host.superJournalKey()
        defer { cordon_page_key_release(beside) }
        let callbacks = host.retainedCallbacks()
        guard let vfs = cordon_vfs_new(name, base, callbacks, beside) else {
            callbacks.release(callbacks.state)
            throw Self.refused
        }
        self.vfs = vfs
    }

    /// Makes it known to the system's SQLite, by its name and not as the default.
    func register() throws(VaultError) {
        guard sqlite3_vfs_register(vfs, 0) == SQLITE_OK else { throw Self.refused }
    }

    /// The file system itself; it and its host are never freed.
    func keptForever() -> UnsafeMutablePointer<sqlite3_vfs> {
        _ = Unmanaged.passRetained(self)
        return vfs
    }

    deinit {
        sqlite3_vfs_unregister(vfs)
        // While a file is open it stays as it is, with the host that knows the keys; the last one to close gives these back.
        cordon_vfs_abandon(vfs)
    }

    private static var refused: VaultError { VaultError(.sealingFailed, "SQLite takes no file system.") }
}
