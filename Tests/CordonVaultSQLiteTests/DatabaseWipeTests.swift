import CordonBase
import CordonIdentity
import CordonSQLiteShim
import CordonTestSupport
import CordonVaultSQLite
import Foundation
import Synchronization
import Testing

@testable import CordonVault

#if os(Linux)
    /// A disk that answers nothing while it hangs.
    private enum HungDisk {
        static let hangs = Atomic(false)
        static let isReached = Atomic(false)
        /// How the next statement on it ended; -1 while it has not.
        static let code = Atomic(-1)
    }
#endif

struct DatabaseWipeTests {
    @Test(arguments: ["DELETE", "WAL"])
    func `a wipe ends open connections and takes the database with all that belongs to it`(mode: String) async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("PRAGMA journal_mode = \(mode); CREATE TABLE note (text); INSERT INTO note VALUES ('hers')")
        try database.run("BEGIN; INSERT INTO note VALUES ('half')")
        try await desk.vault.createAccountKey(for: "ben@example.test")
        let others = try await desk.vault.sealedDatabases(for: "ben@example.test")
        let his = try Database(desk.path("his").path, others.fileSystemName)
        try his.run("CREATE TABLE note (text); INSERT INTO note VALUES ('his')")
        let report = try await desk.vault.wipe(desk.ada)
        #expect(report.succeeded)
        #expect(report.databases == 1)
        #expect(report.files >= (mode == "WAL" ? 3 : 1))
        #expect(failure { try database.run("SELECT * FROM note; COMMIT") } != 0)
        #expect(failure { _ = try desk.open("notes") } == SQLITE_CANTOPEN)
        #expect(desk.databases.error(SQLITE_CANTOPEN, at: desk.path("notes"))?.code == .wiped)
        let names = try FileManager.default.contentsOfDirectory(atPath: desk.folder.path)
        #expect(names.filter { $0.hasPrefix("notes") } == [])
        #expect(try his.run("SELECT text FROM note") == ["his"])
        await #expect(throws: VaultError(.unknownAccount, "")) {
            _ = try await desk.vault.sealedDatabases(for: desk.ada)
        }
    }

    @Test func `a wipe that is killed at the first file it removes leaves nothing that belongs to a database`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let vault = try lastingVault(path)
            try await vault.createAccountKey(for: "ada@example.test")
            let databases = try await vault.sealedDatabases(for: "ada@example.test")
            let database = try Database(path + "/notes", databases.fileSystemName)
            try database.run("PRAGMA journal_mode = WAL; CREATE TABLE note (text); INSERT INTO note VALUES ('hers')")
            _ = try await vault.wipe("ada@example.test") { step in
                if step.kind == .fileRemoved { Program.dieByAnotherHand() }
            }
            withExtendedLifetime(database) {}
        }
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("notes") }
        }
        #expect(try names().contains("notes"))
        let report = try #require(try await lastingVault(path).resumeWipes().first)
        #expect(report.succeeded && report.files == 3 && report.databases == 1)
        #expect(try names() == [])
    }

    @Test func `a database stays for the next wipe while something beside it cannot be removed`() async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("PRAGMA journal_mode = WAL; CREATE TABLE note (text); INSERT INTO note VALUES ('hers')")
        // The key's record is the first, and the index the second of the files in any order.
        let removals = Locked(0)
        let report = try await DiskFaults.$next.withValue({ call in
            guard call == "unlink" else { return 0 }
            return removals.withLock { count in
                count += 1
                return count == 3 ? EIO : 0
            }
        }) { try await desk.vault.wipe(desk.ada) }
        #expect(report.failures == ["filesRemoved: 2 could not be removed"])
        let next = try await desk.vault.wipe(desk.ada)
        #expect(next.succeeded && next.files == 2)
        let names = try FileManager.default.contentsOfDirectory(atPath: desk.folder.path)
        #expect(names.filter { $0.hasPrefix("notes") } == [])
        withExtendedLifetime(database) {}
    }

    #if os(Linux)
        /// A process of its own: SQLite's system calls are those of all its connections.
        @Test(.timeLimit(.minutes(10))) func `a wipe does not wait for a read that the disk never answers`() async {
            await #expect(processExitsWith: .success) {
                let desk = try await Desk()
                let database = try desk.open("notes")
                try database.run("CREATE TABLE note (text); INSERT INTO note VALUES ('hers')")
                let system = try #require(sqlite3_vfs_find(nil))
                let read: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int) -> Int = {
                    file, into, count, offset in
                    if HungDisk.hangs.load(ordering: .acquiring) {
                        HungDisk.isReached.store(true, ordering: .releasing)
                        while HungDisk.hangs.load(ordering: .acquiring) { usleep(1_000) }
                    }
                    return pread(file, into, count, off_t(offset))
                }
                for name in ["pread", "pread64"] {
                    _ = system.pointee.xSetSystemCall(
                        system, name, unsafeBitCast(read, to: sqlite3_syscall_ptr.self))
                }
                HungDisk.hangs.store(true, ordering: .releasing)
                nonisolated(unsafe) let connection = database
                Thread.detachNewThread {
                    // What it was at is read to its end; nothing is read after that.
                    _ = failure { try connection.run("SELECT text FROM note") }
                    let code = failure { try connection.run("SELECT text FROM note") }
                    HungDisk.code.store(Int(code), ordering: .releasing)
                }
                while !HungDisk.isReached.load(ordering: .acquiring) { await Task.yield() }
                #expect(try await desk.vault.wipe(desk.ada).succeeded)
                HungDisk.hangs.store(false, ordering: .releasing)
                while HungDisk.code.load(ordering: .acquiring) == -1 { await Task.yield() }
                #expect(HungDisk.code.load(ordering: .acquiring) != 0)
            }
        }
    #endif

    @Test func `a locked account's databases answer nothing until it is unlocked`() async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("CREATE TABLE note (text); INSERT INTO note VALUES ('kept'); PRAGMA cache_size = 1")
        await desk.vault.lock(desk.ada)
        #expect(failure { try database.run("SELECT * FROM note") } == cordon_sqlite_ioerr_auth)
        #expect(desk.databases.error(cordon_sqlite_ioerr_auth, at: desk.path("notes"))?.code == .locked)
        #expect(failure { _ = try desk.open("notes", creating: false) } == cordon_sqlite_ioerr_auth)
        database.close()
        try await desk.vault.unlock(desk.ada)
        let again = try await desk.vault.sealedDatabases(for: desk.ada)
        let reopened = try Database(desk.path("notes").path, again.fileSystemName)
        #expect(try reopened.run("SELECT text FROM note") == ["kept"])
    }

    @Test func `a wipe by another process is noticed at the next opening`() async throws {
        let desk = try await Desk()
        try desk.open("notes").run("CREATE TABLE note (text)")
        let other = try Desk.vault(in: desk.folder, desk.keyStore)
        try FileManager.default.copyItem(at: desk.path("notes"), to: desk.path("vault/../kept.copy"))
        _ = try await other.wipe(desk.ada)
        #expect(failure { _ = try desk.open("again") } == SQLITE_CANTOPEN)
        #expect(desk.databases.refusal(at: desk.path("again"))?.code == .wiped)
    }
}

/// A vault that another process finds again.
private func lastingVault(_ path: String) throws -> Vault {
    try Vault(
        directory: URL(fileURLWithPath: path + "/vault"),
        keyStore: FileKeyStore(directory: URL(fileURLWithPath: path + "/root")),
        roots: [URL(fileURLWithPath: path)])
}
