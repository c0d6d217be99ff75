#if os(Linux)
    import CordonBase
    import CordonIdentity
    import CordonPolicy
    import CordonTestSupport
    import CordonTesting
    import Foundation
    import Testing

    @testable import Cordon
    @testable import CordonVault

    /// Behind a closed gate no key of guarded files is in the memory of the process. Each in a process of its own, so that nothing else
    /// moves memory meanwhile.
    @Suite(.timeLimit(.minutes(10))) struct GuardedMemoryTests {
        private static let mask: UInt8 = 0x5A

        /// The account's key, masked; it is in memory.
        private static func needle(_ stand: GuardStand, _ protection: AppProtection) async throws -> [UInt8] {
            let vault = protection.context.vault
            let key = try await vault.key(for: stand.account)
            return try #require(key.secret.withBytes { $0.map { $0 ^ mask } })
        }

        private static func count(_ needle: [UInt8]) throws -> Int {
            try MemoryScan.count(of: needle, maskedWith: mask)
        }

        @Test func `when the time is over for which the rules trust the person, the key is nowhere in memory`()
            async throws
        {
            await #expect(processExitsWith: .success) {
                let stand = try await GuardStand()
                let protection = try await stand.guarded(["periodOnlineBeforeAccessCheck": .string("PT30M")])
                let file = try await protection.files.open("note", of: stand.account, writing: false)
                let needle = try await Self.needle(stand, protection)
                try #require(try Self.count(needle) > 0)
                await protection.suspend()
                await stand.house.clock.waitForSleeper(of: .seconds(1801))
                stand.house.clock.advance(.seconds(1802))
                try await until { await !protection.context.vault.isUnlocked(stand.account) }
                try #require(try Self.count(needle) == 0)
                try #require(throws: VaultError.self) { _ = try file.contents() }
            }
        }

        @Test func `a key whose record came to say that it needs no PIN leaves memory all the same`() async throws {
            await #expect(processExitsWith: .success) {
                let stand = try await GuardStand()
                let protection = try await stand.guarded(["periodOnlineBeforeAccessCheck": .string("PT30M")])
                let file = try await protection.files.open("note", of: stand.account, writing: false)
                let needle = try await Self.needle(stand, protection)
                await protection.suspend()
                await stand.house.clock.waitForSleeper(of: .seconds(1801))
                let record = URL(fileURLWithPath: protection.context.vault.records.path(of: stand.account))
                var bytes = try Data(contentsOf: record)
                try #require(bytes[13] == 1)
                bytes[13] = 0
                bytes.replaceSubrange(384..<400, with: Data(count: 16))
                try bytes.write(to: record)
                try #require(try AccountKeyRecord.identify(Array(bytes)).shareID == nil)
                stand.house.clock.advance(.seconds(1802))
                try await until { await !protection.context.vault.isUnlocked(stand.account) }
                try #require(try Self.count(needle) == 0)
                try #require(throws: VaultError.self) { _ = try file.contents() }
            }
        }

        @Test func `a gate that a condition has closed, a start and a PIN that was taken away leave no key in memory`()
            async throws
        {
            await #expect(processExitsWith: .success) {
                let stand = try await GuardStand()
                let protection = try await stand.guarded()
                let needle = try await Self.needle(stand, protection)
                stand.house.facts.withLock { $0.rooted = true }
                try #require(await protection.launch(stand.account).result == .blocked)
                try #require(try Self.count(needle) == 0)

                stand.house.facts.withLock { $0.rooted = false }
                let next = try await stand.house.start()
                try #require(try Self.count(needle) == 0)
                try #require(await next.launch(stand.account).isOpen)
                await next.gate.keys.finishChanges(stand.account)
                try #require(try Self.count(needle) > 0)
                // The gate is passed again at once, as the app is in front.
                await stand.house.person.set { $0.signIns = [.unavailable("There is no network.")] }
                try #require(await next.gate.resetPIN(of: stand.account, evenIfFilesAreLost: false))
                try #require(try Self.count(needle) == 0)
            }
        }

        @Test func `check-in, receiving, wipe and receipt bring no key into memory`() async throws {
            await #expect(processExitsWith: .success) {
                let stand = try await GuardStand()
                let first = try await stand.guarded()
                let needle = try await Self.needle(stand, first)
                await first.context.vault.lock()
                let next = try await stand.house.start()
                try #require(await next.checkIn(stand.account).didSucceed)
                try await next.files.write(Data("download".utf8), as: "download", of: stand.account)
                try #require(try Self.count(needle) == 0)
                try await next.wipe(stand.account)
                try #require(next.enrolledAccounts.isEmpty)
                try #require(try await stand.house.device.receipts().map(\.succeeded) == [true])
                try #require(try Self.count(needle) == 0)
            }
        }
    }
#endif
