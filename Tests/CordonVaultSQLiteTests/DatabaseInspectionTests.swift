import CordonVault
import Foundation
import Testing

/// What the vault tells of a sealed database without SQLite, and proves of it.
struct DatabaseInspectionTests {
    private static let slot = 4096 + 28

    private func filled(_ desk: Desk) throws -> URL {
        let database = try desk.open("notes")
        try database.run("CREATE TABLE note (text)")
        try database.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO note SELECT hex(zeroblob(90)) || i FROM n"
        )
        database.close()
        return desk.path("notes")
    }

    private func verification(_ desk: Desk, _ bytes: Data) async throws -> VaultError? {
        let path = desk.path(UUID().uuidString)
        try bytes.write(to: path)
        do throws(VaultError) {
            _ = try await desk.vault.verifyDatabase(path)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a closed database tells its owner, its page size and how many pages it has`() async throws {
        let desk = try await Desk()
        let path = try filled(desk)
        let facts = try Vault.inspectDatabase(path)
        #expect(facts.owner == desk.ada && facts.pageSize == 4096 && facts.pageCount > 10)
        #expect(facts.bytesOnDisk == 4096 + facts.pageCount * Int64(Self.slot))
        #expect(try await desk.vault.verifyDatabase(path) == facts)
        #expect(Vault.isSealedDatabase(path) && !Vault.isSealedDatabase(desk.path("absent")))
    }

    @Test func `a changed page is named, and pages missing at the end are missed`() async throws {
        let desk = try await Desk()
        let image = try Data(contentsOf: filled(desk))
        #expect(try await verification(desk, image) == nil)
        var changed = image
        changed[4096 + 6 * Self.slot + 100] ^= 1
        let error = try await verification(desk, changed)
        #expect(error?.code == .damaged && error?.place?.hasSuffix("page 7") == true)
        #expect(try await verification(desk, image.dropLast(Self.slot))?.code == .damaged)
        #expect(try await verification(desk, image.dropLast(1))?.code == .damaged)
        #expect(try await verification(desk, image.prefix(4000))?.code == .damaged)
        #expect(try await verification(desk, Data("SQLite format 3".utf8))?.code == .notSealed)
    }

    @Test func `a database that this process has open is left alone`() async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("CREATE TABLE note (text)")
        #expect(throws: VaultError(.inUse, "")) { try Vault.inspectDatabase(desk.path("notes")) }
        database.close()
        #expect(throws: VaultError(.noSuchFile, "")) { try Vault.inspectDatabase(desk.path("absent")) }
    }

    @Test(arguments: [true, false])
    func `a database that was opened under two names is closed with the last of both, in either order`(
        isMoved: Bool
    ) async throws {
        let desk = try await Desk()
        for isFirst in [true, false] {
            let (path, other) = (desk.path("notes \(isFirst)"), desk.path("other \(isFirst)"))
            let database = try desk.open(path.lastPathComponent)
            try database.run("CREATE TABLE note (text)")
            if isMoved {
                try await desk.vault.move(path, to: other)
            } else {
                try await desk.vault.link(path, as: other)
            }
            let second = try desk.open(other.lastPathComponent, creating: false)
            #expect(try second.run("SELECT count(*) FROM note") == ["0"])
            (isFirst ? database : second).close()
            #expect(throws: VaultError(.inUse, "")) { try Vault.inspectDatabase(other) }
            (isFirst ? second : database).close()
            #expect(try Vault.inspectDatabase(other).owner == desk.ada)
        }
    }
}
