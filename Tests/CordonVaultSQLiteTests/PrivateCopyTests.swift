import CordonSQLiteShim
import CordonVault
import CordonVaultSQLite
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc

    /// A SQLite of an app's own, beside the system's, takes the file system by its own functions (SDK-FP-17).
    struct PrivateCopyTests {
        private typealias Register = @convention(c) (UnsafeMutablePointer<sqlite3_vfs>, Int32) -> Int32
        private typealias Unregister = @convention(c) (UnsafeMutablePointer<sqlite3_vfs>) -> Int32
        private typealias Place =
            @convention(c) (UnsafeRawPointer, UnsafeMutablePointer<UnsafePointer<CChar>?>) -> Int32
        private typealias Load = @convention(c) (Int, UnsafePointer<CChar>, Int32) -> UnsafeMutableRawPointer?
        private typealias Find = @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<sqlite3_vfs>?

        /// A copy of the system's library, loaded apart from it and with variables of its own.
        private struct Copy {
            let register: Register
            let unregister: Unregister
            let find: Find
            let open: Database.Open
            let execute: Database.Execute
            let close: Database.Close

            init(in folder: URL) throws {
                // Neither is shown to Swift by the system's module.
                let place: Place = try Self.function("dladdr", of: nil)
                let load: Load = try Self.function("dlmopen", of: nil)
                let known: @convention(c) () -> UnsafePointer<CChar>? = sqlite3_libversion
                // `Dl_info`: the file's name first.
                var facts = [UnsafePointer<CChar>?](repeating: nil, count: 4)
                let isKnown = place(unsafeBitCast(known, to: UnsafeRawPointer.self), &facts)
                let name = try #require(isKnown != 0 ? facts[0] : nil)
                let path = folder.appendingPathComponent("private.so")
                try FileManager.default.copyItem(
                    at: URL(fileURLWithPath: String(cString: name)).resolvingSymlinksInPath(), to: path)
                // In a namespace of its own (LM_ID_NEWLM), so that its functions call each other and not the system's.
                let library = try #require(load(-1, path.path, RTLD_NOW))
                register = try Self.function("sqlite3_vfs_register", of: library)
                unregister = try Self.function("sqlite3_vfs_unregister", of: library)
                find = try Self.function("sqlite3_vfs_find", of: library)
                open = try Self.function("sqlite3_open_v2", of: library)
                execute = try Self.function("sqlite3_exec", of: library)
                close = try Self.function("sqlite3_close_v2", of: library)
            }

            private static func function<Function>(
                _ name: String, of library: UnsafeMutableRawPointer?
            ) throws -> Function {
                unsafeBitCast(try #require(dlsym(library, name)), to: Function.self)
            }

            func database(_ path: URL, _ fileSystem: String) throws -> Database {
                try Database(path.path, fileSystem, open, execute, close)
            }
        }

        /// A connection of the copy's.
        private final class Database {
            typealias Open =
                @convention(c) (
                    UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32, UnsafePointer<CChar>?
                ) -> Int32
            typealias Row =
                @convention(c) (
                    UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
                    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
                ) -> Int32
            typealias Execute =
                @convention(c) (
                    OpaquePointer?, UnsafePointer<CChar>, Row?, UnsafeMutableRawPointer?,
                    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
                ) -> Int32
            typealias Close = @convention(c) (OpaquePointer?) -> Int32

            private var handle: OpaquePointer?
            private let execute: Execute
            private let close: Close

            init(
                _ path: String, _ fileSystem: String, _ open: Open, _ execute: @escaping Execute,
                _ close: @escaping Close
            ) throws {
                (self.execute, self.close) = (execute, close)
                guard open(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, fileSystem) == SQLITE_OK else {
                    throw Refused()
                }
            }

            deinit { _ = close(handle) }

            /// The first value of the last row; empty without one.
            func run(_ sql: String) throws -> String {
                var found = ""
                let result = withUnsafeMutablePointer(to: &found) { found in
                    execute(
                        handle, sql,
                        { context, _, values, _ in
                            guard let context, let value = values?[0] else { return 0 }
                            context.assumingMemoryBound(to: String.self).pointee = String(cString: value)
                            return 0
                        }, found, nil)
                }
                guard result == SQLITE_OK else { throw Refused() }
                return found
            }
        }

        private struct Refused: Error {}

        @Test func `a private copy of SQLite takes the file system by its own functions, and gives it up again`()
            async throws
        {
            let desk = try await Desk()
            let copy = try Copy(in: desk.folder)
            let base = try #require(copy.find(nil))
            #expect(base != sqlite3_vfs_find(nil), "the copy has a list of its own")
            let vfs = try desk.databases.fileSystem(over: base).assumingMemoryBound(to: sqlite3_vfs.self)
            let name = desk.databases.fileSystemName
            #expect(throws: Refused.self) { _ = try copy.database(desk.path("notes"), name) }
            #expect(copy.register(vfs, 0) == SQLITE_OK)
            #expect(copy.find(nil) == base, "it is not the default")
            func write() throws {
                let notes = try copy.database(desk.path("notes"), name)
                _ = try notes.run(
                    "PRAGMA journal_mode = WAL; CREATE TABLE note (text); INSERT INTO note VALUES ('quarterly figures')"
                )
                #expect(try notes.run("SELECT text FROM note") == "quarterly figures")
            }
            // Closed in between: two copies of SQLite in one process do not know of each other's locks.
            try write()
            try {
                let other = try desk.open("notes", creating: false)
                #expect(try other.run("SELECT text FROM note") == ["quarterly figures"], "the system's SQLite reads it")
                other.close()
            }()
            #expect(try desk.bytesOnDisk().range(of: Data("quarterly figures".utf8)) == nil)
            let notes = try copy.database(desk.path("notes"), name)
            #expect(try notes.run("SELECT text FROM note") == "quarterly figures")

            #expect(copy.unregister(vfs) == SQLITE_OK)
            #expect(copy.find(name) == nil)
            #expect(throws: Refused.self) { _ = try copy.database(desk.path("notes"), name) }
            #expect(try notes.run("SELECT text FROM note") == "quarterly figures", "what is open stays so")
            await desk.vault.lock()
            #expect(throws: Refused.self) { _ = try notes.run("SELECT count(*) FROM note") }
        }
    }
#endif
