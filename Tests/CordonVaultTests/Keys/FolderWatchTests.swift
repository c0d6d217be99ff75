import CordonBase
import CordonIdentity
import CordonTestSupport
import Dispatch
import Foundation
import Testing

@testable import CordonVault

#if os(Linux)
    /// What a process is told of folders that it watches, one test after another: what is lost to one watch is lost to all.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct FolderWatchTests {
        private static func later() -> DispatchTime { .now() + .seconds(300) }

        /// In a process of its own: while this one is told of nothing, no other test's vault would be.
        @Test func `what the system has lost counts as a change of every folder`() async {
            await #expect(processExitsWith: .success) {
                let (busy, quiet) = (try TemporaryFolder.make(inMemory: true), try TemporaryFolder.make(inMemory: true))
                defer { [busy, quiet].forEach(TemporaryFolder.remove) }
                let (entered, gate, told) = (
                    DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
                )
                // All watches of the process are told one after another, so that nothing is taken from the system while this one is.
                let first = try #require(
                    FolderWatch(busy) {
                        entered.signal()
                        _ = gate.wait(timeout: FolderWatchTests.later())
                        gate.signal()
                    })
                let second = try #require(FolderWatch(quiet) { told.signal() })
                try Data("x".utf8).write(to: busy.appending(path: "file"))
                try #require(entered.wait(timeout: FolderWatchTests.later()) == .success)
                let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
                let most = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
                let (file, name) = (busy.appending(path: "file").path, busy.appending(path: "name").path)
                for _ in 0...most / 2 {
                    try PosixFile.hardLink(file, as: name)
                    try PosixFile.unlinkIfPresent(name)
                }
                try Data("x".utf8).write(to: quiet.appending(path: "file"))
                gate.signal()
                try #require(told.wait(timeout: FolderWatchTests.later()) == .success)
                try #require(
                    !first.isLive && !second.isLive,
                    "who was told begins anew: the end of a folder may be lost as well")
                let third = try #require(FolderWatch(quiet) { told.signal() })
                try Data("x".utf8).write(to: quiet.appending(path: "other"))
                try #require(told.wait(timeout: FolderWatchTests.later()) == .success)
                withExtendedLifetime(third) {}
            }
        }

        @Test(arguments: [true, false])
        func `a folder that was removed, or moved away, is told of and is not watched any more`(
            isRemoved: Bool
        ) throws {
            let folder = try TemporaryFolder.make(inMemory: true)
            let elsewhere = TemporaryFolder.newPath(inMemory: true)
            defer { [folder, elsewhere].forEach(TemporaryFolder.remove) }
            let told = DispatchSemaphore(value: 0)
            let watch = try #require(FolderWatch(folder) { told.signal() })
            #expect(watch.isLive)
            if isRemoved {
                try FileManager.default.removeItem(at: folder)
            } else {
                try FileManager.default.moveItem(at: folder, to: elsewhere)
            }
            #expect(told.wait(timeout: Self.later()) == .success)
            #expect(!watch.isLive)
        }

        @Test
        func `what another process has open ends also where the folder of keys was made anew since it began to look`()
            async throws
        {
            let workshop = try await Workshop()
            try FileManager.default.removeItem(at: workshop.vault.keyDirectory)
            while await workshop.vault.isUnlocked(workshop.ada) { await Task.yield() }
            let other = try Workshop.vault(in: workshop.folder, workshop.keyStore)
            try await workshop.vault.createAccountKey(for: workshop.ada)
            let path = workshop.path("plan")
            try await workshop.vault.create(path, for: workshop.ada).close()
            let reader = try await workshop.vault.open(path, writing: false)
            _ = try await other.wipe(workshop.ada)
            while (try? reader.size()) != nil { await Task.yield() }
            #expect(throws: VaultError(.wiped, "")) { _ = try reader.size() }
        }
    }
#endif
