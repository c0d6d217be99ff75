import CordonBase
import CordonTestSupport
import Foundation
import Testing

@Suite struct AdvisoryLockTests {
    private struct Refused: Error, Equatable { var code: POSIXErrorCode }

    @Test func `a lock is held once, and can be had again after its end`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "a.lock")
        let first = try #require(try AdvisoryLock.take(file))
        #expect(try AdvisoryLock.take(file) == nil)
        first.end()
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let second = try AdvisoryLock.take(file)
        #expect(second != nil)
        // The first one is over, and takes the file of the second one away no more.
        first.end()
        #expect(try AdvisoryLock.take(file) == nil)
        withExtendedLifetime(second) {}
    }

    @Test func `a lock is gone where its file is or another one is in its place, and not where nobody can look`() throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let files = FileManager.default
        let (inside, away) = (folder.appending(path: "in"), folder.appending(path: "away"))
        try files.createDirectory(at: inside, withIntermediateDirectories: false)
        let lock = try #require(try AdvisoryLock.take(inside.appending(path: "a.lock")))
        #expect(lock.isCurrent && !lock.isGone)
        try files.moveItem(at: inside, to: away)
        #expect(!lock.isCurrent && lock.isGone)
        try Data().write(to: inside)
        #expect(lock.isGone)
        try files.removeItem(at: inside)
        // No system looks up such a name, also for root.
        try files.createSymbolicLink(
            atPath: inside.path, withDestinationPath: String(repeating: "x", count: 300))
        #expect(!lock.isCurrent && !lock.isGone)
        try files.removeItem(at: inside)
        try files.moveItem(at: away, to: inside)
        #expect(lock.isCurrent && !lock.isGone)
        try files.removeItem(at: inside.appending(path: "a.lock"))
        try Data().write(to: inside.appending(path: "a.lock"))
        #expect(!lock.isCurrent && lock.isGone)
    }

    @Test func `a lock that is not let go in time, or no longer waited for, is not had`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "a.lock")
        let held = try #require(try AdvisoryLock.take(file))
        await #expect(throws: POSIXError(.ETIMEDOUT)) { try await AdvisoryLock.waiting(for: file, atMost: .zero) }
        let waiting = Task { try await AdvisoryLock.waiting(for: file) }
        waiting.cancel()
        await #expect(throws: POSIXError(.ECANCELED)) { try await waiting.value }
        let next = Task { try await AdvisoryLock.waiting(for: file) }
        held.end()
        // The file is another one now; the lock of the old one is as good for those who wait for it.
        withExtendedLifetime(try await next.value) {}
    }

    @Test func `bodies under one lock run one after the other, and what a lock cannot do reaches the caller`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "a.lock")
        let running = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        try? AdvisoryLock.exclusively(file, or: { Refused(code: $0.code) }) { () throws(Refused) in
                            #expect(
                                running.withLock { count in
                                    count += 1
                                    return count
                                } == 1)
                            running.withLock { $0 -= 1 }
                        }
                    }
                }
            }
        }
        let answer = try AdvisoryLock.exclusively(inFolder: folder, or: { Refused(code: $0.code) }) {
            () throws(Refused) in 7
        }
        #expect(answer == 7)
        withExtendedLifetime(try await AdvisoryLock.waiting(forFolder: folder)) {}
        let absent = folder.appending(path: "absent")
        #expect(throws: Refused(code: .ENOENT)) {
            try AdvisoryLock.exclusively(inFolder: absent, or: { Refused(code: $0.code) }) { () throws(Refused) in }
        }
        #expect(throws: Refused(code: .ENOENT)) {
            try AdvisoryLock.exclusively(absent.appending(path: "a"), or: { Refused(code: $0.code) }) {
                () throws(Refused) in
            }
        }
        await #expect(throws: POSIXError(.ENOENT)) { try await AdvisoryLock.waiting(forFolder: absent) }
        try FileManager.default.createSymbolicLink(at: absent, withDestinationURL: file)
        #expect(throws: POSIXError(.ELOOP)) { try AdvisoryLock.take(absent) }
    }
}
