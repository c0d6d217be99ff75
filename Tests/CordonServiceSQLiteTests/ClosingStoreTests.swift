import CordonBase
import CordonIdentity
import CordonService
import CordonServiceSQLite
import CordonTestSupport
import Foundation
import Testing

struct ClosingStoreTests {
    /// In a process of its own, since its threads of tasks would be blocked for good.
    @Test func `stores close while reads are under way, also where that takes every thread of tasks`() async throws {
        await #expect(processExitsWith: .success) {
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 300)
                exit(3)
            }
            let folder = try TemporaryFolder.make()
            let count = 2 * ProcessInfo.processInfo.activeProcessorCount
            let (reading, closing) = (Locked(0), Locked(0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    let storage = try SQLiteStorage(file: folder.appending(path: "\(number).sqlite"))
                    let isRead = DispatchSemaphore(value: 0)
                    group.addTask {
                        try await storage.read(TenantID("contoso.example")) { _ in
                            reading.withLock { $0 += 1 }
                            isRead.wait()
                        }
                    }
                    group.addTask {
                        while reading.withLock({ $0 }) < count { await Task.yield() }
                        // The read ends once this thread waits for it.
                        Thread.detachNewThread {
                            while closing.withLock({ $0 }) < min(count, count / 2) { usleep(1_000) }
                            usleep(50_000)
                            isRead.signal()
                        }
                        closing.withLock { $0 += 1 }
                        try storage.close()
                    }
                }
                try await group.waitForAll()
            }
            TemporaryFolder.remove(folder)
        }
    }

    @Test func `reads beside the closing of a store are answered or told that it is closed`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        for number in 0..<20 {
            let storage = try SQLiteStorage(file: folder.appending(path: "\(number).sqlite"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var isOpen = true
                        while isOpen {
                            do {
                                try await storage.read(TenantID("contoso.example")) { _ in }
                            } catch {
                                #expect((error as? ServiceError)?.code == .storageUnavailable)
                                isOpen = false
                            }
                        }
                    }
                }
                group.addTask { try storage.close() }
                try await group.waitForAll()
            }
        }
    }
}
