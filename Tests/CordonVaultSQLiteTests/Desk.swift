import CordonIdentity
import CordonSQLiteShim
import CordonTestSupport
import CordonVault
import CordonVaultSQLite
import Foundation
import Testing

/// A vault in a fresh folder that is removed at the end, with the databases of one account.
final class Desk {
    let folder: URL
    let keyStore = InMemoryKeyStore()
    let vault: Vault
    let ada = AccountID("ada@example.test")
    let databases: SealedDatabases

    init(cipher: DatabaseCipher = .preferred) async throws {
        folder = try TemporaryFolder.make()
            .resolvingSymlinksInPath()
        vault = try Self.vault(in: folder, keyStore)
        try await vault.createAccountKey(for: ada)
        databases = try await vault.sealedDatabases(for: ada, cipher: cipher)
    }

    deinit { TemporaryFolder.remove(folder) }

    static func vault(in folder: URL, _ keyStore: any KeyStore) throws -> Vault {
        try Vault(directory: folder.appendingPathComponent("vault"), keyStore: keyStore, roots: [folder])
    }

    func path(_ name: String) -> URL { folder.appendingPathComponent(name) }

    func open(_ name: String, creating: Bool = true) throws -> Database {
        try Database(path(name).path, databases.fileSystemName, creating: creating)
    }

    /// Every byte of every file of the folder.
    func bytesOnDisk() throws -> Data {
        var all = Data()
        let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        while let next = walk?.nextObject() as? URL {
            if try next.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
                all += try Data(contentsOf: next)
            }
        }
        return all
    }
}

/// SQLite's own interface, as far as the tests need it.
final class Database {
    struct Failure: Error, Equatable {
        let code: Int32
        let message: String
    }

    private var handle: OpaquePointer?

    init(_ path: String, _ fileSystem: String? = nil, creating: Bool = true) throws {
        let flags = SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0)
        let result = sqlite3_open_v2(path, &handle, flags, fileSystem)
        sqlite3_extended_result_codes(handle, 1)
        guard result == SQLITE_OK else {
            let code = sqlite3_extended_errcode(handle)
            sqlite3_close(handle)
            throw Failure(code: code, message: "open")
        }
        sqlite3_busy_timeout(handle, 20_000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements; every value of every row as text.
    @discardableResult
    func run(_ sql: String) throws -> [String] {
        var rows: [String] = []
        var error: UnsafeMutablePointer<CChar>?
        let result = withUnsafeMutablePointer(to: &rows) { pointer in
            sqlite3_exec(
                handle, sql,
                { context, count, values, _ in
                    guard let context, let values else { return 0 }
                    let rows = context.assumingMemoryBound(to: [String].self)
                    for index in 0..<Int(count) {
                        rows.pointee.append(values[index].map { String(cString: $0) } ?? "NULL")
                    }
                    return 0
                }, pointer, &error)
        }
        defer { sqlite3_free(error) }
        guard result == SQLITE_OK else {
            throw Failure(code: sqlite3_extended_errcode(handle), message: error.map { String(cString: $0) } ?? "")
        }
        return rows
    }

    /// What SQLite has open as the database; nil without a file.
    private var file: UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        return file
    }

    /// What the file system promises of the device below the database's file; -1 without one.
    func deviceCharacteristics() -> Int32 {
        file?.pointee.pMethods?.pointee.xDeviceCharacteristics?(file) ?? -1
    }

    /// Lets the file promise that what lies beside a write is safe, as versions before did beside a log. Once SQLite has undone
    /// a transaction, this connection's journals have sectors of 512 bytes. What this takes stays until the process ends.
    func promiseSafeNeighbours() {
        guard let file, let methods = file.pointee.pMethods else { return }
        let changed = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        changed.initialize(to: methods.pointee)
        changed.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        file.pointee.pMethods = UnsafePointer(changed)
    }

    func close() { sqlite3_close(handle); handle = nil }
}

/// The extended code that a body failed with; 0 when it did not.
func failure(_ body: () throws -> Void) -> Int32 {
    do {
        try body()
        return 0
    } catch {
        return (error as? Database.Failure)?.code ?? -1
    }
}
