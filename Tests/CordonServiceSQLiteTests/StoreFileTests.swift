import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceSQLite

/// A damaged, newer or foreign file is refused with a clear error and left as it is.
struct StoreFileTests {
    private let tenant = TenantID("contoso.example")

    private func fill(_ file: URL) async throws {
        let storage = try SQLiteStorage(file: file)
        try await storage.write(tenant) { transaction in
            for number in 0..<200 {
                try transaction.save(
                    DirectoryUser(
                        id: "oid-\(number)", userPrincipalName: "u\(number)@contoso.example",
                        displayName: String(repeating: "x", count: 200)))
            }
        }
        try storage.close()
    }

    /// Changes the bytes of a full store, and expects it to be refused and untouched.
    private func expectRefusal(_ code: ServiceError.Code, _ change: (inout Data) -> Void) async throws {
        try await withStoreFile { file in
            try await fill(file)
            var bytes = try Data(contentsOf: file)
            change(&bytes)
            try bytes.write(to: file)
            let error = #expect(throws: ServiceError.self) { _ = try SQLiteStorage(file: file) }
            #expect(error?.code == code)
            #expect(error?.place == file.path)
            #expect(try Data(contentsOf: file) == bytes)
        }
    }

    @Test func `a store of a newer version is refused and untouched`() async throws {
        try await expectRefusal(.storageNewer) { $0.replaceSubrange(60..<64, with: [0, 0, 0, 99]) }
    }

    @Test func `a file that is no database is refused and untouched`() async throws {
        try await expectRefusal(.storageDamaged) { $0 = Data("not a database, and long enough".utf8) }
        try await expectRefusal(.storageDamaged) { $0.replaceSubrange(0..<4, with: [0, 0, 0, 0]) }
    }

    @Test func `a pipe in the place of a store is refused at once`() async throws {
        try await withStoreFile { file in
            #expect(mkfifo(file.path, 0o600) == 0)
            let error = #expect(throws: ServiceError.self) { _ = try SQLiteStorage(file: file) }
            #expect(error?.code == .storageDamaged)
        }
    }

    @Test func `a store with damaged pages is refused and untouched`() async throws {
        try await expectRefusal(.storageDamaged) { bytes in
            for page in 1..<(bytes.count / 4096) {
                bytes.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(repeating: 0xA5, count: 64))
            }
        }
    }

    @Test func `a store that was cut is refused and untouched`() async throws {
        try await expectRefusal(.storageDamaged) { $0 = $0.prefix(4096 * 3) }
        try await expectRefusal(.storageDamaged) { $0 = $0.prefix(50) }
    }

    @Test func `a large store is opened at once, and refuses every call once a damaged page was found`() async throws {
        try await withStoreFile { file in
            try await fill(file)
            let sound = try SQLiteStorage(file: file, checkedAtOnce: 0)
            await sound.check.finish()
            #expect(try await sound.read(tenant) { try $0.records(DirectoryUser.self).count } == 200)
            try sound.close()
            var bytes = try Data(contentsOf: file)
            // A page with people's names, which opening does not read.
            let name = try #require(bytes.lastRange(of: Data(String(repeating: "x", count: 200).utf8)))
            let page = name.lowerBound / 4096 * 4096
            bytes.replaceSubrange(page..<page + 64, with: Data(repeating: 0xA5, count: 64))
            try bytes.write(to: file)
            let damaged = try SQLiteStorage(file: file, checkedAtOnce: 0)
            await damaged.check.finish()
            let read = await #expect(throws: ServiceError.self) {
                try await damaged.read(tenant) { _ = try $0.settings() }
            }
            let written = await #expect(throws: ServiceError.self) {
                try await damaged.write(tenant) { try $0.save(TenantSettings(targetingRevision: 1)) }
            }
            #expect(read?.code == .storageDamaged && written?.code == .storageDamaged)
            try damaged.close()
        }
    }

    @Test func `another program's database is refused and untouched`() async throws {
        try await expectRefusal(.storageDamaged) { $0.replaceSubrange(68..<72, with: [1, 2, 3, 4]) }
    }

    @Test func `a folder that does not exist is named`() {
        let file = URL(fileURLWithPath: "/nonexistent/folder/service.sqlite")
        let error = #expect(throws: ServiceError.self) { _ = try SQLiteStorage(file: file) }
        #expect(error?.code == .storageUnavailable)
        #expect(error?.reason.contains("No such file") == true)
    }

    @Test func `a folder that is a file is named`() async throws {
        try await withStoreFile { file in
            try Data("x".utf8).write(to: file)
            let error = #expect(throws: ServiceError.self) {
                _ = try SQLiteStorage(file: file.appending(path: "service.sqlite"))
            }
            #expect(error?.code == .storageUnavailable)
            #expect(error?.reason.contains("Not a directory") == true)
        }
    }

    @Test func `the store and its log are private to the service's user`() async throws {
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            try await storage.write(tenant) { transaction in
                try transaction.save(TenantSettings(targetingRevision: 1))
            }
            for name in ["service.sqlite", "service.sqlite-wal", "service.sqlite-shm"] {
                let path = file.deletingLastPathComponent().appending(path: name).path
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(name)")
            }
        }
    }

    @Test func `an empty file that an interrupted start left behind becomes a store`() async throws {
        try await withStoreFile { file in
            try Data().write(to: file)
            let storage = try SQLiteStorage(file: file)
            let users = try await storage.read(tenant) { records in
                try records.records(DirectoryUser.self)
            }
            #expect(users.isEmpty)
        }
    }

    @Test func `SQLite itself keeps the audit log from being changed`() async throws {
        // SRV-CI-092
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            try await storage.write(tenant) { [tenant] transaction in
                try transaction.append(
                    .init(
                        after: nil, tenant: tenant, time: 1, actor: .init(.service, id: "service"), action: "test",
                        target: "test"))
            }
            try storage.close()
            for statement in ["DELETE FROM audit", "UPDATE audit SET action = 'x'"] {
                let answer = try python("db.execute(\"\(statement)\"); db.commit(); print('done')", file)
                #expect(answer.contains("append-only"))
            }
            let count = try python("print(db.execute('SELECT count(*) FROM audit').fetchone()[0])", file)
            #expect(count == "1")
        }
    }
}
