import Cordon
import CordonBase
import CordonProtocol
import Foundation
import Testing

/// What the service says while the disk takes nothing.
@Suite(.timeLimit(.minutes(10))) struct FullDiskTests {
    /// Runs the body in this process while no file of it may have a byte more.
    private static func fillingTheDisk<Result>(_ body: () async throws -> Result) async throws -> Result {
        signal(SIGXFSZ, SIG_IGN)
        var usual = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual) == 0)
        var full = rlimit(rlim_cur: 0, rlim_max: usual.rlim_max)
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
            }
            // Told again, since the service has not heard that they were applied.
            #expect(await protection.checkIn(account) == .newPolicies)
            #expect(!device.mayPrint(try await device.start()))
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

    @Test
    func `what cannot be noted of a wipe ends the key all the same, and the rest goes when it is asked for again`()
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
        // The service has heard of it the first time.
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
