internal import CordonSQLiteShim
internal import CordonVault
internal import Foundation

/// A file system for SQLite, from its making to its end.
final class FileSystem: Sendable {
    // Made once and only handed to SQLite, which locks its list of file systems; hence the opt-out.
    nonisolated(unsafe) private let vfs: UnsafeMutablePointer<sqlite3_vfs>
    // The name's memory, which SQLite reads for as long as the file system is registered; never written.
    nonisolated(unsafe) private let name: UnsafeMutablePointer<CChar>
    private let host: FileSystemHost

    init(
        _ name: String, over base: UnsafeMutablePointer<sqlite3_vfs>?, host: FileSystemHost
    ) throws(VaultError) {
        guard let base, let copy = strdup(name) else { throw Self.refused }
        let beside = try host.superJournalKey()
        defer { cordon_page_key_release(beside) }
        guard let vfs = cordon_vfs_new(copy, base, host.callbacks(), beside) else {
            free(copy)
            throw Self.refused
        }
        self.vfs = vfs
        self.name = copy
        self.host = host
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
        // While connections are open it stays as it is: a few hundred bytes, and a host that knows their keys.
        if cordon_vfs_free(vfs) == 1 {
            free(name)
        } else {
            _ = Unmanaged.passRetained(host)
        }
    }

    private static var refused: VaultError { VaultError(.sealingFailed, "SQLite takes no file system.") }
}
