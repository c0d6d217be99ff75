import CordonBase
import Foundation
import Testing

@testable import CordonVault

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The vault closes nothing under a database that has taken its locks.
struct LiveDatabaseTests {
    @Test(arguments: ["notes", "notes-shm"])
    func `what the vault has open of a file is closed with the database that has opened it since, so its locks hold`(
        name: String
    ) async throws {
        let workshop = try await Workshop()
        let (database, path) = (workshop.path("notes").path, workshop.path(name).path)
        for place in Set([database, path]) { try Data("content".utf8).write(to: URL(fileURLWithPath: place)) }
        let file = try #require(try PosixFile.open(path, writing: false))
        LiveDatabases.shared.opened(database, header: [1])
        #expect(throws: VaultError(.inUse, "")) { try PosixFile.open(path, writing: false) }
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
        try #require(fcntl(descriptor, F_SETLK, &lock) == 0)
        file.close()
        #expect(Self.isLocked(path))
        LiveDatabases.shared.closed(database, header: [1])
        #expect(!Self.isLocked(path))
        try #require(try PosixFile.open(path, writing: false)).close()
    }

    @Test func `what lies beside a sealed database is left alone, whenever the database is opened, and is no failure`()
        async throws
    {
        let workshop = try await Workshop()
        let folder = workshop.path("folder")
        let (database, log) = (folder.appending(path: "notes"), folder.appending(path: "notes-wal"))
        let (made, contentKey) = try SealedHeader.make(
            .one, .database, owner: workshop.ada, accountKey: try await workshop.vault.key(for: workshop.ada),
            chunkSize: 0)
        contentKey.destroy()
        let header = made.memory.array(0, Layout.headerSize)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for path in [database, log] { try Data(header).write(to: path) }
        var (call, isMet) = (0, true)
        while isMet {
            call += 1
            let opens = Locked(0)
            let (paths, unread) = try await DiskFaults.$next.withValue({ [call] made in
                guard made == "open" else { return 0 }
                let number = opens.withLock { count in
                    count += 1
                    return count
                }
                if number == call { LiveDatabases.shared.opened(database.path, header: header) }
                return 0
            }) { try await workshop.vault.filesBelow(folder) }
            isMet = opens.withLock { $0 } >= call
            if isMet { LiveDatabases.shared.closed(database.path, header: header) }
            #expect(paths.map(\.lastPathComponent) == ["notes"], "call \(call)")
            #expect(unread == nil, "call \(call)")
        }
        #expect(call > 2)
    }

    /// How what SQLite locks begins: a database, a log's index, and either before its beginning is written.
    private static let beginnings: [[UInt8]] = [
        Array("SQLite format 3\0".utf8), withUnsafeBytes(of: UInt32(3_007_000)) { Array($0) }, [],
    ]

    private static func plant(_ beginning: [UInt8], at path: URL) throws {
        try (Data(beginning) + Data(count: 8192 - beginning.count)).write(to: path)
    }

    @Test(arguments: beginnings)
    func `a look drops no lock of a plain database or its index, as it does of any other file`(
        beginning: [UInt8]
    ) async throws {
        let workshop = try await Workshop()
        let (database, empty, text) = (workshop.path("notes"), workshop.path("empty"), workshop.path("text"))
        try Self.plant(beginning, at: database)
        try Data().write(to: empty)
        try Self.plant(Array("no database".utf8), at: text)
        for path in [database, empty, text] {
            let descriptor = open(path.path, O_RDWR)
            var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
            try #require(fcntl(descriptor, F_SETLK, &lock) == 0)
            Self.parkedForGood.withLock { $0.append(descriptor) }
        }
        let vault = workshop.vault
        for path in [database, empty, text] {
            #expect(vault.owner(of: path) == nil && !vault.isSealed(path) && !Vault.isSealedDatabase(path))
        }
        #expect(vault.files(ownedBy: workshop.ada).isEmpty)
        _ = try await vault.wipe(workshop.ada)
        #expect(Self.isLocked(database.path) && Self.isLocked(empty.path))
        #expect(!Self.isLocked(text.path), "the control: a lock that was dropped is seen")
    }

    @Test func `a plain database that is looked at often costs one descriptor, until it is gone`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("notes")
        try Self.plant(Self.beginnings[0], at: path)
        let inode = try #require(LiveDatabases.Inode(path.path))
        // While it is open here, no other test's file can have its number.
        let own = open(path.path, O_RDONLY | O_CLOEXEC)
        try #require(own >= 0)
        defer { close(own) }
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count {
                $0 != "\(own)" && LiveDatabases.Inode("/dev/fd/\($0)") == inode
            }
        }
        for _ in 0..<100 { #expect(workshop.vault.owner(of: path) == nil) }
        #expect(await code { _ = try await workshop.vault.open(path) } == .notSealed)
        #expect(try descriptors() <= 1)
        PosixFile.remove(path.path)
        #expect(try descriptors() == 0)
    }

    @Test func `what was written over a plain database counts for what it is now`() async throws {
        let workshop = try await Workshop()
        let (path, sealed) = (workshop.path("notes"), workshop.path("sealed"))
        try Self.plant(Self.beginnings[0], at: path)
        #expect(workshop.vault.owner(of: path) == nil)
        let file = try await workshop.vault.create(sealed, for: workshop.ada)
        try file.write([7], at: 0)
        try file.close()
        // In the same inode.
        let handle = try FileHandle(forWritingTo: path)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(contentsOf: sealed))
        try handle.close()
        #expect(workshop.vault.owner(of: path) == workshop.ada)
        let again = try await workshop.vault.open(path)
        try again.write([8], at: 0)
        #expect(try again.all() == [8])
    }

    /// Whether a lock of this process holds, as another owner of locks sees it.
    private static func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR)
        // F_OFD_GETLK: the locks of an open file, which those of the process stand against.
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
        let asked = fcntl(descriptor, 36, &lock)
        defer { parkedForGood.withLock { $0.append(descriptor) } }
        return asked == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Closing one would drop the locks that are looked for.
    private static let parkedForGood = Locked<[Int32]>([])
}
