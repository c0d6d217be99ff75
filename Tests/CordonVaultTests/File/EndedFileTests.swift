import CordonBase
import CordonIdentity
import CordonTestSupport
import Dispatch
import Foundation
import Testing

@testable import CordonVault

/// A lock or a wipe of the account meets a call of a file that is under way.
struct EndedFileTests {
    /// A read on a thread of its own, which the disk keeps waiting until it is let go.
    private final class StalledRead: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let answer = Locked<(code: VaultError.Code?, memory: [UInt8])?>(nil)

        /// Whether the read has ended.
        var isOver: Bool { answer.withLock { $0 != nil } }

        /// Returns when the read waits.
        init(of file: SealedFile, count: Int) async {
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            Thread.detachNewThread { [gate, answer] in
                var memory = [UInt8](repeating: 0xEE, count: count)
                var code: VaultError.Code?
                func read() throws { _ = try memory.withUnsafeMutableBytes { try file.read(into: $0, at: 0) } }
                DiskFaults.$next.withValue({ call in
                    guard call == "read" else { return 0 }
                    beginning.yield()
                    // What has passed lets all others pass.
                    gate.wait()
                    gate.signal()
                    return 0
                }) {
                    do { try read() } catch { code = (error as? VaultError)?.code }
                }
                let found = (code, memory)
                answer.withLock { $0 = found }
            }
            for await _ in begun { break }
        }

        // However the test ends, the thread does.
        deinit { gate.signal() }

        /// Lets the read go on, and gives what came of it.
        func end() async -> (code: VaultError.Code?, memory: [UInt8]) {
            gate.signal()
            while true {
                if let found = answer.withLock({ $0 }) { return found }
                await Task.yield()
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [VaultError.Code.wiped, .locked])
    func `neither wipe nor lock waits for a read that the disk keeps waiting, and what that gives is not handed out`(
        reason: VaultError.Code
    ) async throws {
        let workshop = try await Workshop()
        let path = workshop.path("plan")
        // One chunk, and several: the last read of the disk, and one before it.
        for count in [4096, 3 * 4096] {
            let writer = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
            try writer.write([UInt8](repeating: 7, count: count), at: 0)
            try writer.close()
            let reader = try await workshop.vault.open(path, writing: false)
            let read = await StalledRead(of: reader, count: count)
            if reason == .wiped {
                #expect(try await workshop.vault.wipe(workshop.ada).succeeded)
            } else {
                #expect(await workshop.vault.lock(workshop.ada).isEmpty)
            }
            #expect(!read.isOver, "the disk has given nothing yet")
            let (code, memory) = await read.end()
            #expect(code == reason && memory.allSatisfy { $0 == 0 })
            #expect(throws: VaultError(reason, "")) { _ = try reader.size() }
            try await workshop.vault.createAccountKey(for: workshop.ada)
        }
    }

    @Test func `who looks at a file while its contents are replaced sees the former ones or the new ones`() throws {
        let sealer = Sealer()
        let file = try sealer.create(on: MemoryDevice())
        let contents = Data(repeating: 7, count: 100)
        try file.replaceContents(with: contents)
        // A lock of the account makes durable what it finds, hence also a file that was emptied and not filled again.
        let (isOver, looks, others) = (Locked(false), Locked(0), Locked(0))
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                if (try? file.size()) != 100 { others.withLock { $0 += 1 } }
                looks.withLock { $0 += 1 }
            }
        }
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<1000 {
            // The other thread is at it, and not asleep.
            let before = looks.withLock { $0 }
            while looks.withLock({ $0 }) < before + 3 { sched_yield() }
            try file.replaceContents(with: contents)
        }
        #expect(others.withLock { $0 } == 0)
    }
}
