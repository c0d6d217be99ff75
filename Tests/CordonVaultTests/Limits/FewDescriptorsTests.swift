#if canImport(Glibc)
    import CordonBase
    import CordonTestSupport
    import Foundation
    import Testing

    @testable import CordonVault

    /// A process that may open no more files (R6), each in a process of its own.
    @Suite(.timeLimit(.minutes(10))) struct FewDescriptorsTests {
        @Test func `what was synced stays, what cannot be opened says why, and all goes on once files can be opened`()
            async
        {
            await #expect(processExitsWith: .success) {
                let workshop = try await Workshop()
                let writer = try await workshop.vault.create(workshop.path("note"), for: workshop.ada)
                try writer.write([1, 2, 3], at: 0)
                try writer.sync()
                let failures = try await withoutDescriptors {
                    [
                        await failure { _ = try await workshop.vault.create(workshop.path("new"), for: workshop.ada) },
                        await failure { _ = try await workshop.vault.open(workshop.path("note"), writing: false) },
                    ]
                }
                for each in failures {
                    let error = try #require(each)
                    try #require(error.code == .inputOutput && error.reason.contains("open files"), "\(error)")
                }
                try #require(await workshop.vault.isUnlocked(workshop.ada))
                try writer.write([4], at: 3)
                try writer.sync()
                try writer.close()
                try await workshop.vault.create(workshop.path("new"), for: workshop.ada).close()
                let again = try await workshop.reopened()
                try #require(try await again.open(workshop.path("note"), writing: false).all() == [1, 2, 3, 4])
            }
        }

        @Test func `a key file is not taken for absent because it cannot be opened`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder.make()
                defer { TemporaryFolder.remove(folder) }
                let file = KeyFile(path: folder.path + "/root.key", magic: "CORDTEST")
                try file.make(from: SecretBytes.random(), replacing: false)
                let error = try await withoutDescriptors { await failure { _ = try file.read() } }
                try #require(error?.code == .inputOutput)
                try #require(try file.read() != nil)
            }
        }

        @Test func `a folder is watched as soon as there is a descriptor for it`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder.make()
                defer { TemporaryFolder.remove(folder) }
                let told = Locked(false)
                let none = try await withoutDescriptors { FolderWatch(folder) {} }
                try #require(none == nil)
                let watch = try #require(FolderWatch(folder) { told.withLock { $0 = true } })
                try Data().write(to: folder.appending(path: "file"))
                try #require(await comes { told.withLock { $0 } })
                withExtendedLifetime(watch) {}
            }
        }

        @Test func `a key that another process destroyed while its record could not be read ends a little later`() async
        {
            await #expect(processExitsWith: .success) {
                let workshop = try await Workshop()
                let writer = try await workshop.vault.create(workshop.path("note"), for: workshop.ada)
                try writer.write([1, 2, 3], at: 0)
                try writer.sync()
                let records = workshop.folder.appendingPathComponent("vault/keys")
                let record = records.appendingPathComponent(KeyRecords.name(of: workshop.ada)).path
                let looks = Locked(0)
                // Told of the same change, and in this order.
                let watch = try #require(FolderWatch(records) { looks.withLock { $0 += 1 } })
                let isOpenMeanwhile = try await withoutDescriptors {
                    unlink(record)
                    try #require(await comes { looks.withLock { $0 > 0 } })
                    // The vault's own look is behind this question.
                    for _ in 0..<100 { _ = await workshop.vault.isUnlocked(workshop.ada) }
                    return (try? writer.read(3, at: 0)) != nil
                }
                try #require(isOpenMeanwhile, "otherwise this test shows nothing")
                try #require(await comes { (try? writer.read(3, at: 0)) == nil })
                withExtendedLifetime(watch) {}
            }
        }

        @Test func `who watches a folder is told also where the kernel had too many events to keep`() async {
            await #expect(processExitsWith: .success) {
                let most = KernelText.contents(of: "/proc/sys/fs/inotify/max_queued_events")?.split(separator: "\n")
                    .first
                let rounds = try #require(most.flatMap { Int($0) }) / 4 + 16
                let folder = try TemporaryFolder.make(inMemory: true)
                defer { TemporaryFolder.remove(folder) }
                let (busy, quiet) = (folder.appending(path: "busy"), folder.appending(path: "quiet"))
                for each in [busy, quiet] {
                    try FileManager.default.createDirectory(at: each, withIntermediateDirectories: false)
                }
                let (calls, told, gate) = (Locked(0), Locked(false), DispatchSemaphore(value: 0))
                let first = try #require(
                    FolderWatch(busy) {
                        let isFirst = calls.withLock { calls in
                            calls += 1
                            return calls == 1
                        }
                        if isFirst { gate.wait() }
                    })
                let second = try #require(FolderWatch(quiet) { told.withLock { $0 = true } })
                try Data().write(to: busy.appending(path: "a"))
                try #require(await comes { calls.withLock { $0 > 0 } })
                // Four events, none of which is like the one before.
                for _ in 0..<rounds {
                    rename(busy.path + "/a", busy.path + "/b")
                    rename(busy.path + "/b", busy.path + "/a")
                }
                try Data().write(to: quiet.appending(path: "lost"))
                gate.signal()
                try #require(await comes { told.withLock { $0 } })
                withExtendedLifetime((first, second)) {}
            }
        }
    }

    /// Runs the body in a process that may open nothing meanwhile.
    private func withoutDescriptors<Value>(_ body: () async throws -> Value) async throws -> Value {
        var usual = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        try #require(getrlimit(kind, &usual) == 0)
        // What is open stays open; the three standard streams are.
        var none = rlimit(rlim_cur: 3, rlim_max: usual.rlim_max)
        try #require(setrlimit(kind, &none) == 0)
        defer { setrlimit(kind, &usual) }
        return try await body()
    }

    /// Whether something comes to hold within some minutes.
    private func comes(_ holds: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(300)
        while !holds() {
            guard .now < end else { return false }
            await Task.yield()
        }
        return true
    }

    private func failure(_ body: () async throws -> Void) async -> VaultError? {
        do {
            try await body()
            return nil
        } catch { return error as? VaultError }
    }
#endif
