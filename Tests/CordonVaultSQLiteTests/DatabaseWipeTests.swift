import CordonIdentity
import CordonSQLiteShim
import CordonVault
import CordonVaultSQLite
import Foundation
import Synchronization
import Testing

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

    #if os(Linux)
        /// A process of its own: SQLite's system calls are those of all its connections.
        @Test(.timeLimit(.minutes(1))) func `a wipe does not wait for a read that the disk never answers`() async {
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
