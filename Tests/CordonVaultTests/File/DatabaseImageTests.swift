import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// A sealed database that is looked at without SQLite.
struct DatabaseImageTests {
    /// A disk on which a file is cut between a look at its beginning and one at its length.
    private final class CutDevice: StorageDevice {
        private let header: RawMemory
        private let length: Int64

        init(_ header: RawMemory, length: Int64) {
            self.header = header
            self.length = length
        }

        func size() throws(VaultError) -> Int64 { length }

        func read(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
            let bytes = header.bytes.dropFirst(Int(offset)).prefix(memory.count)
            memory.copyBytes(from: bytes)
            return bytes.count
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError) {}
        func sync() throws(VaultError) {}
        func truncate(to size: Int64) throws(VaultError) {}
        func close() {}
    }

    @Test(arguments: ["-journal", "-wal", "-shm"])
    func `a database is refused beside which SQLite would write into another file`(suffix: String) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (path, other) = (folder.appending(path: "notes").path, folder.appending(path: "other"))
        let beside = URL(fileURLWithPath: path + suffix)
        try DatabaseKeyring.requireOneNameBeside(path)
        try Data("another's".utf8).write(to: other)
        try FileManager.default.linkItem(at: other, to: beside)
        #expect(throws: VaultError(.invalidArgument, "")) { try DatabaseKeyring.requireOneNameBeside(path) }
        try FileManager.default.removeItem(at: other)
        try DatabaseKeyring.requireOneNameBeside(path)
    }

    @Test func `a database that is cut while it is looked at is damaged, and ends no process`() throws {
        let key = AccountKey(account: "ada@example.test", id: SecureRandom.bytes(16), secret: .random())
        let (header, _) = try SealedHeader.make(.one, .database, owner: key.account, accountKey: key, chunkSize: 0)
        // Pages of 512 bytes, with 28 more on the disk.
        header.memory.store(UInt8(9), at: Layout.headerSize - 1)
        for blocks in 0...2 {
            let image = try SealedDatabaseImage(
                CutDevice(header.memory, length: Int64(Layout.headerSize + blocks * 540)))
            #expect(image.blockCount == blocks, "the control: \(blocks) whole pages")
        }
        for cut in [540, 1080, 3780, 4096, 100] {
            #expect(throws: VaultError(.damaged, ""), "cut by \(cut)") {
                try SealedDatabaseImage(CutDevice(header.memory, length: Int64(Layout.headerSize - cut)))
                    .forEachBlock(under: key) { _ in }
            }
        }
    }
}
