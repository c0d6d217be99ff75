import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Crypto
import Foundation
import Testing

/// What a check-in brought is in force once it is stored, whatever fails afterwards.
@Suite(.timeLimit(.minutes(10))) struct AdoptionTests {
    /// A key store that can refuse.
    private final class FickleKeys: KeyStore {
        private let key = SymmetricKey(size: .bits256)
        private let secrets = InMemoryKeyStore()
        let refuses = Locked(false)

        func rootKey() throws(VaultError) -> SymmetricKey {
            if refuses.withLock({ $0 }) { throw VaultError(.keyStore, "The key store is locked.") }
            return key
        }

        // As in the Keychain, what is locked cannot be read, but deleted.
        func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? { secrets.secret(for: name) }
        func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey { secrets.makeSecret(for: name) }
        func destroySecret(for name: KeyStoreName) throws(VaultError) { secrets.destroySecret(for: name) }
        func retire(_ name: KeyStoreName) throws(VaultError) { secrets.retire(name) }
        func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { secrets.isRetired(name) }
    }

    private let ada: AccountID = "oid-a"
    private let keys = FickleKeys()

    private func enrolled(_ device: Device) async throws -> AppProtection {
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.keyStore = keys }
        await protection.enroll(device.account)
        return protection
    }

    @Test func `rules that were stored while the key could not be opened are in force, and stay so`() async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        #expect(device.mayPrint(protection))
        await device.service.set { $0.sparesEnvelopes = true }
        try await device.publish(["printBlocked": .bool(true)])
        keys.refuses.withLock { $0 = true }
        #expect(await protection.checkIn(ada) == .internalError)
        #expect(!device.mayPrint(protection))

        keys.refuses.withLock { $0 = false }
        #expect(await protection.checkIn(ada) == .newPolicies)
        let decision = protection.decision(for: Question(.print, owner: .managed(ada)))
        #expect(decision.reasons.map(\.setting) == ["printBlocked"])
    }

    @Test func `a commanded wipe needs no key`() async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        await device.service.set { $0.commands = [.wipe()] }
        keys.refuses.withLock { $0 = true }
        #expect(await protection.checkIn(ada) == .wipeReceived)
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(device.keys.isEmpty)
        #expect(await device.service.acknowledgements.map(\.phase) == [.started, .succeeded])
    }

    @Test func `a vault journal that cannot be read does not keep the service's wipe from running`() async throws {
        let device = try Device()
        _ = try await enrolled(device)
        let name = try #require(device.keys.first).replacing(".key", with: ".json")
        try Data("{".utf8).write(to: device.folder.appending(path: "data/vault/wipes").appending(path: name))
        let restarted = try await device.start { $0.keyStore = keys }
        #expect(device.mayPrint(restarted), "what is no journal closes nothing")
        await device.service.set { $0.commands = [.wipe()] }
        #expect(await restarted.checkIn(ada) == .wipeReceived)
        #expect(device.keys.isEmpty && device.files(in: "registrations").isEmpty)
        #expect(try await device.receipts().map(\.succeeded) == [true])
    }
}
