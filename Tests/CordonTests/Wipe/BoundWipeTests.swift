import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// What the vault has noted of another wipe, genuine as it is, says nothing of this one, whatever else is taken out of the folder meanwhile:
/// the secrets go, and then a receipt is signed.
@Suite(.timeLimit(.minutes(10))) struct BoundWipeTests {
    private let ada: AccountID = "oid-a"

    /// What is taken out of the app's folder while a wipe is cut off.
    enum Aside: String, CaseIterable {
        case record = "vault/keys"
        case files = "vault/keys files"
        case guards = "vault/keys files guards"
        case filesAlone = "files"

        var folders: [String] { rawValue.split(separator: " ").map(String.init) }
    }

    /// A wipe that the app has noted, as a kill leaves it right after.
    private func cutOff(_ protection: AppProtection, at moment: Date) throws {
        let registration = try #require(protection.context.accounts[ada])
        try protection.context.wipes.save(
            WipeRecord(
                command: .wipe(), registration: registration, started: moment, stage: .begun, vault: nil, failures: [],
                receipt: nil))
    }

    private func putAside(_ aside: Aside, on device: Device) throws {
        for folder in aside.folders {
            let place = device.folder.appending(path: "data").appending(path: folder)
            let store = device.folder.appending(path: "aside").appending(path: folder)
            try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
            for name in device.files(in: folder) {
                try FileManager.default.moveItem(at: place.appending(path: name), to: store.appending(path: name))
            }
        }
    }

    private func putBack(_ aside: Aside, on device: Device) throws {
        for folder in aside.folders {
            let place = device.folder.appending(path: "data").appending(path: folder)
            let store = device.folder.appending(path: "aside").appending(path: folder)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            for name in try FileManager.default.contentsOfDirectory(atPath: store.path) {
                try? FileManager.default.removeItem(at: place.appending(path: name))
                try FileManager.default.moveItem(at: store.appending(path: name), to: place.appending(path: name))
            }
        }
    }

    private func secrets(_ device: Device) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: device.folder.appending(path: "keys/secrets").path)
    }

    /// The receipts that the service has, each once.
    private func receipts(_ device: Device) async throws -> [WipeReceipt] {
        var texts: [String] = []
        for text in await device.service.acknowledgements.compactMap(\.receipt) where !texts.contains(text) {
            texts.append(text)
        }
        return try texts.map { try WipeReceipt(verifying: $0, signedBy: device.sessions.publicKey) }
    }

    /// Puts what is kept of the vault's notes back as a note of this kind.
    private func putBack(_ kept: URL, as end: String, on device: Device) throws {
        let place = device.folder.appending(path: "data/vault/wipes")
        for name in try FileManager.default.contentsOfDirectory(atPath: kept.path) where name.hasSuffix("." + end) {
            try FileManager.default.copyItem(at: kept.appending(path: name), to: place.appending(path: name))
        }
    }

    private func expectClosed(_ device: Device, _ aside: Aside, besides: [WipeReceipt] = []) async throws {
        #expect(try secrets(device).isEmpty)
        #expect(device.files(in: "wipes").isEmpty && device.files(in: "registrations").isEmpty)
        let receipts = try await receipts(device)
        #expect(receipts.count == besides.count + 1)
        let last = try #require(receipts.last)
        #expect(last.succeeded && last.destroyedKeyIDs.count == 1)
        #expect(!besides.flatMap(\.destroyedKeyIDs).contains(last.destroyedKeyIDs[0]), "another wipe's key")
        try putBack(aside, on: device)
        let data = device.folder.appending(path: "data")
        let vault = try Vault(
            directory: data.appending(path: "vault"), keyStore: device.keyStore, name: "example.notes",
            roots: [data.appending(path: "files")])
        await #expect(throws: VaultError.self) { try await vault.unlock(ada) }
    }

    @Test(arguments: ["report", "json"], Aside.allCases)
    func `a note of an own wipe of the same second, put back in the organisation's, spares no secret and signs nothing`(
        end: String, aside: Aside
    ) async throws {
        let time = TestTime()
        let device = try Device(time: time, isLasting: true)
        let (wipes, kept) = (
            device.folder.appending(path: "data/vault/wipes"), device.folder.appending(path: "kept")
        )
        await device.setServiceClock()
        try await device.publish(["printBlocked": .bool(false)])
        let first = try await device.start { configuration in
            configuration.wipeObserver = { step in
                guard step == (end == "json" ? "vault-temporaryFilesRemoved" : "vault-finished") else { return }
                try? FileManager.default.copyItem(at: wipes, to: kept)
            }
        }
        await first.enroll(device.account)
        try await first.wipe(ada)
        let own = try await receipts(device)
        #expect(try own.count == 1 && secrets(device).isEmpty)

        await first.enroll(device.account)
        try await first.files.write(Data("plan".utf8), as: "plan.txt", of: ada)
        try cutOff(first, at: time.now)
        try putAside(aside, on: device)
        try putBack(kept, as: end, on: device)
        let restarted = try await device.start()
        await restarted.performDueWork()
        try await expectClosed(device, aside, besides: own)
    }

    @Test(arguments: ["report", "json"], Aside.allCases)
    func `a note of an earlier wipe spares no key that a PIN guards, and signs nothing`(
        end: String, aside: Aside
    ) async throws {
        let stand = try await GuardStand()
        let device = stand.house.device
        let data = device.folder.appending(path: "data")
        let (wipes, kept) = (data.appending(path: "vault/wipes"), device.folder.appending(path: "kept"))
        let earlier = try Vault(
            directory: data.appending(path: "vault"), keyStore: device.keyStore, name: "example.notes",
            clock: stand.house.clock.clock.now)
        try await earlier.createAccountKey(for: ada)
        _ = try await earlier.wipe(ada) { step in
            guard step.kind == (end == "json" ? .temporaryFilesRemoved : .finished) else { return }
            try? FileManager.default.copyItem(at: wipes, to: kept)
        }
        try await earlier.discardReport(for: ada)

        let protection = try await stand.guarded()
        try cutOff(protection, at: stand.house.clock.clock.now())
        try putAside(aside, on: device)
        try putBack(kept, as: end, on: device)
        let restarted = try await stand.house.start()
        await restarted.performDueWork()
        try await expectClosed(device, aside)
    }

    @Test func `a report that the version before left in mid-wipe signs nothing, and the wipe runs once more`()
        async throws
    {
        let device = try Device(isLasting: true)
        let protection = try await device.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: ada)
        try cutOff(protection, at: .now)
        #expect(try await protection.context.vault.wipe(ada).destroyedKeyIDs.count == 1)
        let calls = Locked(0)
        let restarted = try await device.start {
            $0.wipeHook = { _ in
                calls.withLock { $0 += 1 }
                return .removed
            }
        }
        await restarted.performDueWork()
        let receipts = try await receipts(device)
        #expect(receipts.map(\.succeeded) == [true])
        #expect(receipts.map(\.destroyedKeyIDs) == [[]], "what this version has not destroyed it does not name")
        #expect(calls.withLock { $0 } == 1)
        #expect(try secrets(device).isEmpty && device.files(in: "vault/wipes").isEmpty)
    }

    // MARK: The registration

    @Test(arguments: [false, true])
    func
        `a registration that is put aside while a wipe begins tells of it all the same, and is older when it comes back`(
            isPutBack: Bool
        ) async throws
    {
        let device = try Device(isLasting: true)
        let (folder, cut) = (device.folder, device.folder.appending(path: "cut"))
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { configuration in
            configuration.wipeObserver = { step in
                guard step == "vault-begun" else { return }
                for name in ["data", "keys"] {
                    let copy = cut.appending(path: name)
                    try? FileManager.default.createDirectory(at: cut, withIntermediateDirectories: true)
                    try? FileManager.default.copyItem(at: folder.appending(path: name), to: copy)
                }
            }
        }
        await protection.enroll(device.account)
        #expect(device.mayPrint(protection))
        let name = try #require(device.files(in: "registrations").first)
        let place = folder.appending(path: "data/registrations").appending(path: name)
        let registration = try Data(contentsOf: place)
        try FileManager.default.removeItem(at: place)
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(ada)

        // As a kill leaves it where the wipe began; its record is removed.
        for name in ["data", "keys"] {
            try FileManager.default.removeItem(at: folder.appending(path: name))
            try FileManager.default.moveItem(at: cut.appending(path: name), to: folder.appending(path: name))
        }
        for name in device.files(in: "wipes") {
            try FileManager.default.removeItem(at: folder.appending(path: "data/wipes").appending(path: name))
        }
        if isPutBack { try registration.write(to: place) }
        let restarted = try await device.start()
        #expect(!device.mayPrint(restarted))
        if !isPutBack { #expect(try secrets(device).isEmpty && device.keys.isEmpty, "the wipe has begun anew") }
    }

    @Test func `a commanded wipe is carried out while the registration is put aside`() async throws {
        let device = try Device(isLasting: true)
        let protection = try await device.enrolled()
        let name = try #require(device.files(in: "registrations").first)
        let place = device.folder.appending(path: "data/registrations").appending(path: name)
        try FileManager.default.moveItem(at: place, to: device.folder.appending(path: name))
        await protection.wipes.begin(.wipe())
        await protection.performDueWork()
        #expect(try secrets(device).isEmpty && device.keys.isEmpty)
        #expect(try await receipts(device).map(\.destroyedKeyIDs.count) == [1])
    }

    // MARK: The group

    @Test func `a key of the organisation's apps whose record is put aside ends with the account`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let store = FileKeyStore(directory: folder.appending(path: "store"))
        let group = SharingGroup(directory: folder.appending(path: "group"), keyStore: store)
        let vault = try GroupVault(group, directory: folder.appending(path: "app"))
        let item = try await vault.seal(Data("on its way".utf8), named: "n", for: ada, as: .handOver)
        let keys = folder.appending(path: "group/keys")
        let aside = folder.appending(path: "aside")
        try FileManager.default.copyItem(at: keys, to: aside)
        for name in try FileManager.default.contentsOfDirectory(atPath: keys.path) {
            try FileManager.default.removeItem(at: keys.appending(path: name))
        }
        try await vault.forget(ada)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory.path + "/secrets").isEmpty)
        try FileManager.default.removeItem(at: keys)
        try FileManager.default.moveItem(at: aside, to: keys)
        let next = try GroupVault(group, directory: folder.appending(path: "app"))
        await #expect(throws: ProtectionError.self) { _ = try await next.open(item, of: ada, as: .handOver) }
    }
}
