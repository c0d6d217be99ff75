import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import Testing

/// What an app with protection seals on a shared device opens in the session in which it was sealed, and in no other.
@Suite(.timeLimit(.minutes(10))) struct SharedDeviceKeyStoreTests {
    private let plan = Data("of the first shift".utf8)

    /// The device's store with a session's key in it; nil for none.
    private static func store(of device: Device, in session: UInt8?) throws -> SharedDeviceKeyStore {
        let store = SharedDeviceKeyStore(device: device.keyStore)
        if let session { try store.open(with: Data(repeating: session, count: 32)) }
        return store
    }

    private static func start(_ device: Device, in session: UInt8?) async throws -> AppProtection {
        let store = try store(of: device, in: session)
        return try await device.start { $0.keyStore = store }
    }

    /// A device on which the account has written a file in session 1, in an app that has ended.
    private func written() async throws -> Device {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        let protection = try await Self.start(device, in: 1)
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(plan, as: "plan", of: device.account.id)
        return device
    }

    @Test func `what was written in a session opens in that session alone, and nothing is lost meanwhile`() async throws
    {
        let device = try await written()
        let account = device.account.id
        for session: UInt8? in [nil, 2] {
            let later = try await Self.start(device, in: session)
            await #expect(throws: ProtectionError.self) { try await later.files.read("plan", of: account) }
            await #expect(throws: ProtectionError.self) { try await later.files.names(of: account) }
        }
        let again = try await Self.start(device, in: 1)
        #expect(try await again.files.read("plan", of: account) == plan)
    }

    @Test func `an app that was started before the session's key could be had opens with it at the next check-in`()
        async throws
    {
        let device = try await written()
        let account = device.account.id
        let store = try Self.store(of: device, in: nil)
        let protection = try await device.start { $0.keyStore = store }
        #expect(protection.enrolledAccounts == [device.account])
        await #expect(throws: ProtectionError.self) { try await protection.files.read("plan", of: account) }
        try store.open(with: Data(repeating: 1, count: 32))
        #expect(await protection.checkIn(account).didSucceed)
        #expect(try await protection.files.read("plan", of: account) == plan)
    }

    @Test func `who left is removed without the session's key, and finds an empty place in the next session`()
        async throws
    {
        let device = try await written()
        let account = device.account.id
        let cleaning = try await Self.start(device, in: nil)
        #expect(await cleaning.unenroll(account, because: .signedOut) != .wipeIncomplete)
        #expect(cleaning.enrolledAccounts.isEmpty && device.keys.isEmpty)
        let next = try await Self.start(device, in: 2)
        #expect(await next.enroll(device.account).didSucceed)
        #expect(try await next.files.names(of: account).isEmpty)
        try await next.files.write(Data("of the second".utf8), as: "plan", of: account)
        #expect(try await next.files.read("plan", of: account) == Data("of the second".utf8))
    }

    @Test func `a session's key has 32 bytes and is not shown`() throws {
        let store = SharedDeviceKeyStore(device: InMemoryKeyStore())
        for count in [0, 31, 33] {
            #expect(throws: VaultError(.keyStore, "")) { try store.open(with: Data(repeating: 1, count: count)) }
        }
        try store.open(with: Data(repeating: 1, count: 32))
        #expect("\(store)" == "SharedDeviceKeyStore(redacted)" && Mirror(reflecting: store).children.isEmpty)
    }
}
