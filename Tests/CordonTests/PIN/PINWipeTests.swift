import CordonBase
import CordonPolicy
import CordonTestSupport
import CordonVault
import Crypto
import Foundation
import Testing

@testable import Cordon

/// What a PIN hangs on ends with the account, or the wipe does not say that it has.
@Suite(.timeLimit(.minutes(10))) struct PINWipeTests {
    /// A key store that does not destroy everything.
    private final class ReluctantKeys: KeyStore {
        private let keys = InMemoryKeyStore()
        /// The names of the secrets that were made, in order.
        let made = Locked<[KeyStoreName]>([])
        let kept = Locked<[KeyStoreName]>([])

        func rootKey() throws(VaultError) -> SymmetricKey { try keys.rootKey() }
        func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? { keys.secret(for: name) }
        func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey {
            made.withLock { $0.append(name) }
            return keys.makeSecret(for: name)
        }
        func destroySecret(for name: KeyStoreName) throws(VaultError) {
            if kept.withLock({ $0.contains(name) }) { throw VaultError(.keyStore, "The key store is locked.") }
            keys.destroySecret(for: name)
        }
        func retire(_ name: KeyStoreName) throws(VaultError) { keys.retire(name) }
        func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { keys.isRetired(name) }

        /// Which of these secrets are there.
        func left(of names: [KeyStoreName]) -> [KeyStoreName] { names.filter { keys.secret(for: $0) != nil } }
    }

    @Test func `a secret of a PIN that stays keeps no other one, and the PIN is not removed before it has gone`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let keys = ReluctantKeys()
        let keeper = PINKeeper(
            folder: try StateFolder(folder.appending(path: "pins")),
            seal: StateSeal(
                keyStore: keys, folder: try StateFolder(folder.appending(path: "life")),
                counter: try FileStateCounter(directory: folder.appending(path: "counters")),
                bundleID: "example.notes"), clock: ManualClock().clock, cost: PINCost(logRounds: 1), observer: { _ in })
        let rules = PINRequirements(AccessRequirements())
        _ = try await keeper.set("2580", of: "oid-a", requirements: rules)
        let first = keys.made.withLock { $0 }
        keys.kept.withLock { $0 = first }
        _ = try await keeper.set("9731", of: "oid-a", requirements: rules)
        let both = keys.made.withLock { $0 }
        #expect(both.count == 2 && keys.left(of: both) == both)
        await #expect(throws: ProtectionError(.vault, "")) { try await keeper.remove("oid-a") }
        #expect(keys.left(of: both) == first)
        keys.kept.withLock { $0 = [] }
        try await keeper.remove("oid-a")
        #expect(keys.left(of: both).isEmpty)
        guard case .absent = try keeper.contents(of: "oid-a") else {
            Issue.record("the record stayed")
            return
        }
    }

    @Test func `a wipe waits for a key store that does not destroy a PIN's secret`() async throws {
        let house = try await Gatehouse()
        let keys = ReluctantKeys()
        let protection = try await house.enrolled { $0.keyStore = keys }
        let others = keys.made.withLock { $0.count }
        #expect(await protection.launch(house.account).isOpen)
        await protection.gate.keys.finishChanges(house.account)
        let secrets = keys.made.withLock { Array($0.dropFirst(others)) }
        #expect(secrets.count == 1)
        keys.kept.withLock { $0 = secrets }
        #expect(await protection.failureOfWiping(house.account) == .vault)
        #expect(house.device.keys.isEmpty, "the account's key does not wait")
        #expect(try await house.device.receipts().isEmpty)
        keys.kept.withLock { $0 = [] }
        await protection.performDueWork()
        #expect(keys.left(of: secrets).isEmpty)
        #expect(try await house.device.receipts().map(\.succeeded) == [true])
    }

    @Test(arguments: [(BiometryItemStatus.unavailable, false), (.notFound, true)])
    func `a wipe's receipt says so where a finger's item could not be removed`(
        status: BiometryItemStatus, succeeds: Bool
    ) async throws {
        let house = try await Gatehouse()
        let items = FingerItems()
        let protection = try await house.opened { $0.biometryItems = items }
        items.forgetting.withLock { $0 = status }
        #expect(await protection.failureOfWiping(house.account) == nil)
        #expect(try await house.device.receipts().map(\.succeeded) == [succeeds])
    }

    @Test func `an account without a registration is removed also where a finger's item stays`() async throws {
        let house = try await Gatehouse()
        let items = FingerItems()
        _ = try await house.opened { $0.biometryItems = items }
        items.forgetting.withLock { $0 = .unavailable }
        let folder = house.device.folder.appending(path: "data/registrations")
        for name in house.device.files(in: "registrations") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        let restarted = try await house.start { $0.biometryItems = items }
        #expect(await restarted.unenroll(house.account) == .unenrolled)
        #expect(house.device.keys.isEmpty)
        #expect(await house.device.sessions.ended == [house.account])
    }
}
