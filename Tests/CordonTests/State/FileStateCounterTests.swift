import CordonTestSupport
import Foundation
import Testing

@testable import Cordon

/// Numbers in files, and processes that are at them at once.
struct FileStateCounterTests {
    @Test(arguments: ["read", "write"])
    func `who takes the lock away from a process that waits in the middle of a change gets no number twice`(
        step: String
    ) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        var counter = try FileStateCounter(directory: folder)
        let other = counter
        #expect(try counter.raise("n", from: 0, to: 4))
        let lock = try StateFolder(folder).lock
        try #require(FileManager.default.fileExists(atPath: lock.path))
        defer { try? FileManager.default.removeItem(at: lock) }
        counter.observer = { reached in
            guard reached == step else { return }
            try? FileManager.default.removeItem(at: lock)
            let now = (try? other.value(of: "n")) ?? 0
            #expect((try? other.raise("n", from: now, to: now + 1)) == true, "the other process counts")
        }
        #expect(throws: ProtectionError(.stateUnwritable, "")) { _ = try counter.raise("n", from: 4, to: 7) }
        #expect(throws: ProtectionError(.stateUnwritable, "")) { try counter.raise("n", to: 9) }
        counter.observer = { _ in }
        let now = try counter.value(of: "n")
        #expect(try counter.raise("n", from: now, to: now + 1), "the next change has the lock that is there")
    }
}
