internal import CordonBase
internal import CordonService
internal import Foundation
internal import GRDB

/// Looks at a store's file before anything may write to it.
enum StorageFile {
    private static let header = 100

    /// Makes the file where there is none, and refuses one that is not a sound store of this version or an older one.
    ///
    /// - Parameter checkedAtOnce: The bytes of a file up to which every page of it is looked at, and those of one that is converted.
    /// - Returns: Whether every page was looked at.
    static func prepare(_ file: URL, checkedAtOnce: Int) throws(ServiceError) -> Bool {
        guard !DurableFile.isOtherThanFile(file) else {
            throw ServiceError(.storageDamaged, "something else than a file is in the store's place", place: file.path)
        }
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw unavailable("the store cannot be opened", file) }
            try make(file)
            return true
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: header)
        let count = read(descriptor, &bytes, header)
        guard count != 0 else { return true }
        guard count == header, bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw ServiceError(.storageDamaged, "the file is not a SQLite database", place: file.path)
        }
        try checkVersion(Int(number(at: 60, in: bytes)), file)
        guard access(file.path, W_OK) == 0, access(file.deletingLastPathComponent().path, W_OK) == 0 else {
            throw unavailable("the store or its folder cannot be written", file)
        }
        let size = lseek(descriptor, 0, SEEK_END)
        return try checkContent(file, isSmall: size >= 0 && size <= checkedAtOnce)
    }

    /// Makes an empty file that only the service's user can read; SQLite gives its log the same permissions.
    private static func make(_ file: URL) throws(ServiceError) {
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unavailable("the store cannot be made", file) }
        close(descriptor)
    }

    private static func checkVersion(_ version: Int, _ file: URL) throws(ServiceError) {
        guard version <= StorageMigrations.current else {
            throw ServiceError(
                .storageNewer, "the store has version \(version), this program knows \(StorageMigrations.current)",
                place: file.path)
        }
    }

    /// Checks over a connection that cannot write whose file it is and, where it is small or has to be converted, every page.
    private static func checkContent(_ file: URL, isSmall: Bool) throws(ServiceError) -> Bool {
        let problem: String?
        let version: Int
        let looksAtAll: Bool
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: file.path, configuration: configuration)
            (problem, version, looksAtAll) = try queue.read { database in
                let owner = try Int32.fetchOne(database, sql: "PRAGMA application_id")
                let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
                let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                // A file without tables was left by a start that was interrupted before its first step.
                if owner != StorageMigrations.applicationID && tables > 0 {
                    return ("the file is another program's database", version, false)
                }
                guard isSmall || version != StorageMigrations.current else { return (nil, version, false) }
                let check = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
                return (check == "ok" ? nil : "the file is damaged", version, true)
            }
            try queue.close()
        } catch {
            throw ServiceError(storage: error, place: file.path)
        }
        if let problem { throw ServiceError(.storageDamaged, problem, place: file.path) }
        try checkVersion(version, file)
        return looksAtAll
    }

    /// A number in the header of a SQLite file, big-endian.
    private static func number(at offset: Int, in bytes: [UInt8]) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func unavailable(_ reason: String, _ file: URL) -> ServiceError {
        ServiceError(.storageUnavailable, reason + ": " + String(cString: strerror(errno)), place: file.path)
    }
}
