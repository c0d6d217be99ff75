import CordonBase
import CordonProtocol
import Foundation
import Testing

@testable import Cordon

/// What the service says while the disk takes nothing.
@Suite(.timeLimit(.minutes(10))) struct FullDiskTests {
    /// Runs the body in this process while no file of it may have a byte more.
    ///
    /// - Parameter size: How far files are written to in place all the same.
    private static func fillingTheDisk<Result>(
        upTo size: rlim_t = 0, _ body: () async throws -> Result
    ) async throws -> Result {
        signal(SIGXFSZ, SIG_IGN)
        var usual = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual) == 0)
        var full = rlimit(rlim_cur: size, rlim_max: usual.rlim_max)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &full) == 0)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual) }
        return try await body()
    }

    @Test func `rules that cannot be stored are in force until the app ends`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            let account = device.account.id
            let protection = try await device.enrolled(["printBlocked": .bool(false)])
            #expect(device.mayPrint(protection))
            try await device.publish(["printBlocked": .bool(true)])
            try await Self.fillingTheDisk {
                #expect(await protection.checkIn(account) == .internalError)
                #expect(!device.mayPrint(protection))
                #expect(!protection.context.accounts.isUnreadable(account), "a full disk closes nothing")
            }
            // Told again, since the service has not heard that they were applied.
            #expect(await protection.checkIn(account) == .newPolicies)
            #expect(!device.mayPrint(try await device.start()))
        }
    }

    @Test func `contact counts on a full disk, whether the answer brings rules, nothing or a new registration`() async {
        await #expect(processExitsWith: .success) {
            let answers: [@Sendable (isolated ScriptedService) -> Void] = [
                { $0.sparesEnvelopes = true }, { _ in }, { $0.registration = "registration-2" },
            ]
            for answer in answers {
                let house = try await Gatehouse()
                let protection = try await house.opened(["pinRequired": .bool(false)])
                try await protection.files.write(Data("plan".utf8), as: "plan", of: house.account)
                // Longer than any limit without contact: the gate seeks contact before anything is removed.
                house.clock.advance(.seconds(91 * 86_400))
                await house.device.service.set(answer)
                try await Self.fillingTheDisk {
                    try #require(await protection.resume(house.account).isOpen)
                    try #require(await protection.files.read("plan", of: house.account) == Data("plan".utf8))
                }
                try #require(protection.enrolledAccounts == [house.device.account])
            }
        }
    }

    @Test func `a new file whose contents the disk does not take is not there`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            let account = device.account.id
            try await device.publish(["printBlocked": .bool(false)])
            let protection = try await device.start { $0.keepsBackgroundFiles = true }
            try #require(await protection.enroll(device.account) == .newPolicies)
            let files = protection.files
            try await files.write(Data("plan".utf8), as: "plan", of: account)
            // Room for a new file, and not for what is in it.
            try await Self.fillingTheDisk(upTo: 48 << 10) {
                let large = Data(count: 200_000)
                await #expect(throws: ProtectionError.self) { try await files.write(large, as: "large", of: account) }
                await #expect(throws: ProtectionError.self) {
                    try await files.background.write(large, as: "large", of: account)
                }
                try #require(try await files.names(of: account) == ["plan"])
                try #require(try await files.background.names(of: account).isEmpty)
                try await files.write(Data("small".utf8), as: "large", of: account)
                try #require(try await files.read("large", of: account) == Data("small".utf8))
            }
        }
    }

    @Test func `work that cannot be planned anew on a full disk is not due at once again`() async {
        await #expect(processExitsWith: .success) {
            let time = TestTime()
            let device = try Device(time: time)
            let protection = try await device.enrolled()
            await device.service.set { $0.isUnreachable = true }
            await protection.unenroll(device.account.id, wiping: false)
            time.advance(by: 600)
            try await Self.fillingTheDisk {
                try #require(await protection.performDueWork() > time.now)
            }
            try #require(protection.diagnostics.report().waitingUnenrollments == 1)
        }
    }

    @Test func `an account whose wipe cannot be stored is closed, and wiped once it can`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            let account = device.account.id
            let protection = try await device.enrolled(["printBlocked": .bool(false)])
            let wipe = Command(
                id: "wipe-1", kind: .wipe, account: account, reason: .user, issuedAt: 0, notAfter: 9_000_000_000)
            await device.service.set { $0.commands = [wipe] }
            try await Self.fillingTheDisk {
                #expect(await protection.checkIn(account) == .wipeReceived)
                #expect(!device.mayPrint(protection))
            }
            _ = await protection.checkIn(account)
            #expect(protection.enrolledAccounts.isEmpty)
            #expect(try await device.receipts().map(\.succeeded) == [true])
        }
    }

    @Test func `a PIN that is to be reset closes what is open also where the disk takes nothing, and goes once it can`()
        async
    {
        await #expect(processExitsWith: .success) {
            let house = try await Gatehouse()
            let protection = try await house.opened()
            let reset = Command(
                id: "c1", kind: .resetPIN, account: house.account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000
            )
            await house.device.service.set { $0.commands = [reset] }
            await house.person.set { person in
                person.signIns = [.cancelled]
                person.pins = [.entered("2580"), .cancelled]
            }
            try await Self.fillingTheDisk {
                _ = await protection.checkIn(house.account)
                try #require(!protection.gate.isOpen(for: house.account))
                try #require(await !protection.resume(house.account).isOpen, "no guess is counted")
                try #require(await house.device.service.acknowledgements.isEmpty, "it is not done")
            }
            _ = await protection.checkIn(house.account)
            try #require(await house.device.service.acknowledgements.map(\.phase) == [.succeeded])
            await house.person.forgetAsked()
            try #require(await !protection.resume(house.account).isOpen)
            try #require(await house.person.pinPrompts.isEmpty, "the former PIN is not asked for")
        }
    }

    @Test func `a wipe that cannot be noted ends the key all the same, and the next start does the rest`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            let account = device.account.id
            let protection = try await device.enrolled(["printBlocked": .bool(false)])
            try await protection.files.write(Data("plan".utf8), as: "plan", of: account)
            let readable = device.folder.appending(path: "data/files/readable")
            try Data("plan".utf8).write(to: readable)
            let vault = protection.context.vault
            try await vault.protect(readable, for: account, sealing: false)
            // The vault's journal is longer than a key's record, which alone is written in place.
            await vault.attach(.run(String(repeating: "x", count: 512)) { _ in .done })
            try await Self.fillingTheDisk(upTo: 512) {
                try #require(await protection.failureOfWiping(account) == .stateUnwritable)
                try #require(
                    (device.files(in: "vault/wipes") + device.files(in: "wipes")).allSatisfy { !$0.hasSuffix(".json") })
                try #require(try !vault.keepsKey(of: account))
                try #require(await vault.pendingWipes().map(\.account) == [account])
                await #expect(throws: ProtectionError.self) { _ = try await protection.files.read("plan", of: account) }
            }
            try #require(FileManager.default.fileExists(atPath: readable.path))
            let restarted = try await device.start()
            try #require(restarted.enrolledAccounts.isEmpty)
            await restarted.performDueWork()
            try #require(!FileManager.default.fileExists(atPath: readable.path))
            try #require(device.keys.isEmpty && device.files(in: "wipes").isEmpty)
            let receipts = try await device.receipts()
            try #require(Set(receipts.map(\.commandID)).count == 1)
            try #require(receipts.allSatisfy { $0.succeeded && $0.cause == "interrupted" })
            try #require(await restarted.enroll(device.account) == .newPolicies)
        }
    }

    @Test func `rules that the state counter has no room for close nothing`() async throws {
        let device = try Device()
        let account = device.account.id
        let counter = FullCounter()
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(Data("plan".utf8), as: "plan", of: account)
        try await device.publish(["printBlocked": .bool(true)])
        counter.isFull.withLock { $0 = true }
        #expect(await protection.checkIn(account) == .newPolicies)
        await device.service.set { $0.isUnreachable = true }
        for process in [protection, try await device.start { $0.stateCounter = counter }] {
            await process.performDueWork()
            #expect(try await process.files.read("plan", of: account) == Data("plan".utf8))
            #expect(!device.mayPrint(process))
        }
    }

    @Test
    func `a wipe that the state counter does not count ends the key all the same, and goes on when asked for again`()
        async throws
    {
        let device = try Device()
        let account = device.account.id
        let counter = FullCounter()
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(Data("plan".utf8), as: "plan", of: account)
        counter.isFull.withLock { $0 = true }
        #expect(await protection.unenroll(account) == .wipeIncomplete)
        counter.isFull.withLock { $0 = false }
        let restarted = try await device.start { $0.stateCounter = counter }
        await #expect(throws: ProtectionError.self) { _ = try await restarted.files.read("plan", of: account) }
        #expect(await restarted.unenroll(account) != .wipeIncomplete)
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(try await device.receipts().map(\.succeeded) == [true])
    }
}

/// A counter that takes no number while it is full.
private struct FullCounter: StateCounter {
    private let numbers = Locked<[String: Int64]>([:])
    let isFull = Locked(false)

    func value(of name: String) -> Int64 { numbers.withLock { $0[name] ?? 0 } }
    func raise(_ name: String, to number: Int64) throws {
        if isFull.withLock({ $0 }) { throw POSIXError(.ENOSPC) }
        numbers.withLock { $0[name] = max($0[name] ?? 0, number) }
    }
}
