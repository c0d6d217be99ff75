import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Crypto
import Foundation
import Testing

@testable import Cordon

/// SC-07 and SC-26…37 at run time: a thing goes sealed from one managed app to another, and both sides' rules decide.
@Suite struct OpenInTests {
    private actor Inbox: ReceivingApp {
        private(set) var item: SharedItem?
        func deliver(_ item: SharedItem) { self.item = item }
    }

    /// A key store that destroys nothing while it is locked.
    private final class LockableKeys: KeyStore {
        let isLocked = Locked(false)
        private let keys = InMemoryKeyStore()

        func rootKey() throws(VaultError) -> SymmetricKey { try keys.rootKey() }
        func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? { keys.secret(for: name) }
        func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey { keys.makeSecret(for: name) }
        func destroySecret(for name: KeyStoreName) throws(VaultError) {
            if isLocked.withLock({ $0 }) { throw VaultError(.keyStore, "The key store is locked.") }
            keys.destroySecret(for: name)
        }
        func retire(_ name: KeyStoreName) throws(VaultError) { keys.retire(name) }
        func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { keys.isRetired(name) }
    }

    /// Two apps on one device that share a group; each has data, keys and an enrolment of its own.
    private struct TwoApps {
        let sender: AppProtection, receiver: AppProtection
        let devices: [Device]
        let group: SharingGroup

        init(
            _ rules: [String: JSONValue], inReceiver others: [String: JSONValue] = [:],
            keys: any KeyStore = InMemoryKeyStore()
        ) async throws {
            let devices = [try Device(), try Device()]
            let group = SharingGroup(directory: devices[0].folder.appending(path: "group"), keyStore: keys)
            var apps: [AppProtection] = []
            for device in devices {
                try await device.publish(apps.isEmpty ? rules : rules.merging(others) { $1 })
                let app = try await device.start { $0.sharingGroup = group }
                await app.enroll(device.account)
                apps.append(app)
            }
            (sender, receiver, self.devices, self.group) = (apps[0], apps[1], devices, group)
        }

        func handOver(_ contents: Data, of owner: Identity = .managed("oid-a")) async throws -> SharedItem {
            let inbox = Inbox()
            let permit = try sender.outlets.openInPermit(of: owner)
            try await sender.outlets.openIn(contents, named: "plan.txt", of: owner, by: inbox, permit: permit)
            return try #require(await inbox.item)
        }
    }

    private static let managedOnly: [String: JSONValue] = [
        "allowedOutboundDataTransferDestinations": .string("managedApps"),
        "allowedInboundDataTransferSources": .string("managedApps"),
    ]
    private let secret = Data("the plan that no other app may read".utf8)

    @Test func `SC-27, SC-31, SC-35: a managed app of the same account takes it, and no other app reads it on the way`()
        async throws
    {
        let apps = try await TwoApps(Self.managedOnly)
        let item = try await apps.handOver(secret)
        #expect(item.contents.range(of: secret) == nil)
        #expect(item.contents.range(of: Data("plan.txt".utf8)) == nil && item.name.isEmpty)
        let taken = try await apps.receiver.outlets.take(item, for: .managed("oid-a"))
        #expect(taken.contents == secret)
        #expect(taken.name == "plan.txt")
        #expect(taken.owner == .managed("oid-a"))
    }

    @Test func `what handles a thing knows who sent it where a seal proves that, and nothing else does`() async throws {
        let apps = try await TwoApps(["allowedInboundDataTransferSources": .string("allApps")])
        let outlets = apps.receiver.outlets
        let sealed = try await outlets.take(try await apps.handOver(secret), for: .managed("oid-a")) { taken in
            await Task.yield()
            #expect(taken.contents == secret)
            return IdentityContext.currentSender
        }
        #expect(sealed == "oid-a")
        #expect(IdentityContext.currentSender == nil)
        let claimed = SharedItem(owner: "oid-a", senderBundleID: "other.app", name: "x", contents: Data("x".utf8))
        let sender = try await IdentityContext.with(sender: "oid-b") {
            try await outlets.take(claimed, for: .managed("oid-a")) { _ in IdentityContext.currentSender }
        }
        #expect(sender == nil)
    }

    @Test func `SC-32, SC-36: a personal account in the other app does not take it`() async throws {
        let apps = try await TwoApps(Self.managedOnly)
        let item = try await apps.handOver(secret)
        expectDenied(await failure(apps.receiver, item, for: .personal))
    }

    @Test func `SC-28, SC-30, SC-34: a managed account takes nothing from elsewhere, whatever the sender claims`()
        async throws
    {
        let apps = try await TwoApps(Self.managedOnly)
        for claimed in [nil, "oid-a"] as [AccountID?] {
            let item = SharedItem(
                owner: claimed, senderBundleID: "other.app", name: "x", contents: Data("x".utf8))
            expectDenied(await failure(apps.receiver, item, for: .managed("oid-a")))
        }
    }

    @Test func `SC-29, SC-33, SC-37: personal data always goes to a personal account`() async throws {
        let apps = try await TwoApps(Self.managedOnly)
        let item = try await apps.handOver(secret, of: .personal)
        #expect(item.contents == secret)
        let taken = try await apps.receiver.outlets.take(item, for: .personal)
        #expect(taken == TakenItem(owner: .personal, name: "plan.txt", contents: secret))
    }

    @Test func `plain data that says whose it is keeps to that owner's rules`() async throws {
        let apps = try await TwoApps(Self.managedOnly)
        let item = SharedItem(owner: "oid-a", senderBundleID: "other.app", name: "x", contents: Data("x".utf8))
        expectDenied(await failure(apps.receiver, item, for: .personal))
    }

    @Test func `SC-26: nothing is handed over where data may go nowhere`() async throws {
        let apps = try await TwoApps(["allowedOutboundDataTransferDestinations": .string("none")])
        #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
            _ = try apps.sender.outlets.openInPermit(of: .managed("oid-a"))
        }
    }

    @Test func `a changed parcel, and a sealed thing made for another purpose, are refused`() async throws {
        let apps = try await TwoApps(Self.managedOnly)
        var item = try await apps.handOver(secret)
        item.contents[item.contents.count - 1] ^= 1
        #expect(
            await failure(apps.receiver, item, for: .managed("oid-a")) as? ProtectionError
                == ProtectionError(.vault, ""))
        let vault = try GroupVault(apps.group, directory: apps.devices[0].folder.appending(path: "other"))
        item.contents = try await vault.sealed(.allow, of: "oid-a")
        #expect(
            await failure(apps.receiver, item, for: .managed("oid-a")) as? ProtectionError
                == ProtectionError(.damagedContent, ""))
    }

    @Test func `a readable parcel that only names the account is not taken for one that the group sealed`() async throws
    {
        let apps = try await TwoApps(Self.managedOnly)
        _ = try await apps.receiver.outlets.take(try await apps.handOver(secret), for: .managed("oid-a"))
        let vault = try Vault(directory: apps.devices[1].folder.appending(path: "forger"), keyStore: InMemoryKeyStore())
        for purpose in ["handOver", "notifications"] {
            let label = Data(#"{"name":"allow","purpose":"\#(purpose)"}"#.utf8)
            let parcel = Data([0, 0, 0, UInt8(label.count)]) + label + secret
            let forged = try await vault.protect(parcel, for: "oid-a", sealing: false)
            let item = SharedItem(owner: "oid-a", senderBundleID: "other.app", name: "", contents: forged)
            #expect(
                await failure(apps.receiver, item, for: .managed("oid-a")) as? ProtectionError
                    == ProtectionError(.damagedContent, ""))
            let values = apps.group.directory.appending(path: "values")
            try await apps.sender.outlets.publishNotificationLevels()
            let published = try FileManager.default.contentsOfDirectory(at: values, includingPropertiesForKeys: nil)
            for file in published { try forged.write(to: file) }
            let levels = try NotificationLevels(
                apps.group, dataDirectory: apps.devices[1].folder.appending(path: "extension"))
            #expect(await levels.level(for: "oid-a") == .block)
        }
    }

    @Test func `a wipe in either app ends what is on its way, and the other app's files stay`() async throws {
        let apps = try await TwoApps(Self.managedOnly)
        try await apps.receiver.files.write(secret, as: "own", of: "oid-a")
        let item = try await apps.handOver(secret)
        try await apps.sender.wipe("oid-a")
        #expect(
            await failure(apps.receiver, item, for: .managed("oid-a")) as? ProtectionError
                == ProtectionError(.vault, ""))
        #expect(try await apps.receiver.files.read("own", of: "oid-a") == secret)
        // The one that is left can hand over again.
        let inbox = Inbox()
        let permit = try apps.receiver.outlets.openInPermit(of: .managed("oid-a"))
        try await apps.receiver.outlets.openIn(secret, named: "n", of: .managed("oid-a"), by: inbox, permit: permit)
        let again = try #require(await inbox.item)
        #expect(try await apps.receiver.outlets.take(again, for: .managed("oid-a")).contents == secret)
    }

    @Test func `a wipe ends what is on its way also where what notifications may show cannot be taken back`()
        async throws
    {
        let apps = try await TwoApps(Self.managedOnly)
        let item = try await apps.handOver(secret)
        let lock = apps.group.directory.appending(path: "values.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        try await apps.sender.wipe("oid-a")
        #expect(
            await failure(apps.receiver, item, for: .managed("oid-a")) as? ProtectionError
                == ProtectionError(.vault, ""))
        #expect(try await apps.devices[0].receipts().last?.succeeded == false, "what stays is in the receipt")
    }

    @Test func `a wipe waits for the group's key, and says nothing was removed before it has gone`() async throws {
        let keys = LockableKeys()
        let apps = try await TwoApps(Self.managedOnly, keys: keys)
        let item = try await apps.handOver(secret)
        keys.isLocked.withLock { $0 = true }
        #expect(await apps.sender.failureOfWiping("oid-a") == .vault)
        #expect(try await apps.devices[0].receipts().isEmpty)
        keys.isLocked.withLock { $0 = false }
        await apps.sender.performDueWork()
        #expect(
            await failure(apps.receiver, item, for: .managed("oid-a")) as? ProtectionError
                == ProtectionError(.vault, ""))
        #expect(try await apps.devices[0].receipts().last?.succeeded == true)
    }

    @Test func `what began before a wipe makes the account no key of the group after it, and a new enrolment does`()
        async throws
    {
        let apps = try await TwoApps(Self.managedOnly)
        _ = try await apps.handOver(secret)
        let vault = try await apps.sender.outlets.group.opened()
        #expect(vault.mayKeepKey(of: "oid-a"), "the control")
        try await apps.sender.wipe("oid-a")
        await #expect(throws: ProtectionError(.vault, "")) { try await vault.sealed(.allow, of: "oid-a") }
        #expect(!vault.mayKeepKey(of: "oid-a"))
        await apps.sender.enroll(apps.devices[0].account)
        #expect(vault.mayKeepKey(of: "oid-a"))
        _ = try await apps.handOver(secret)
    }

    @Test func `an app that shares nothing neither hands over nor takes what is sealed`() async throws {
        let apps = try await TwoApps(Self.managedOnly)
        let item = try await apps.handOver(secret)
        let device = try Device()
        let alone = try await device.enrolled(Self.managedOnly)
        let permit = try alone.outlets.openInPermit(of: .managed("oid-a"))
        do {
            try await alone.outlets.openIn(secret, named: "n", of: .managed("oid-a"), by: Inbox(), permit: permit)
            Issue.record("it was handed over")
        } catch { #expect(error.code == .noSharingGroup) }
        expectDenied(await failure(alone, item, for: .managed("oid-a")))
    }

    @Test func `an app of the group in which the account is not enrolled opens nothing of it`() async throws {
        let apps = try await TwoApps([:])
        let item = try await apps.handOver(secret)
        let device = try Device()
        let stranger = try await device.start { $0.sharingGroup = apps.group }
        for receiver in [Identity.personal, .managed("oid-b")] {
            expectDenied(await failure(stranger, item, for: receiver))
        }
    }

    @Test func `behind a closed gate what was handed over is given to no one, and can be put into the files`()
        async throws
    {
        let apps = try await TwoApps(Self.managedOnly, inReceiver: ["pinRequired": .bool(true)])
        let (device, item) = (apps.devices[1], try await apps.handOver(secret))
        // No one passes a gate in an extension that has no interface.
        let inExtension = try await device.start { configuration in
            configuration.isExtension = true
            configuration.sharingGroup = apps.group
        }
        for app in [apps.receiver, inExtension] {
            expectDenied(await failure(app, item, for: .managed("oid-a")))
        }
        let kept = try await inExtension.outlets.takeIntoFiles(item, for: "oid-a") { "received " + $0 }
        #expect(kept == (owner: "oid-a", name: "received plan.txt"))
        let readable = SharedItem(owner: nil, senderBundleID: "other.app", name: "x", contents: Data("x".utf8))
        do {
            _ = try await inExtension.outlets.takeIntoFiles(readable, for: "oid-a") { $0 }
            Issue.record("it was taken")
        } catch { expectDenied(error) }
        try await device.publish(Self.managedOnly)
        #expect(await apps.receiver.checkIn("oid-a") == .newPolicies)
        #expect(try await apps.receiver.files.names(of: "oid-a") == ["received plan.txt"])
        #expect(try await apps.receiver.files.read("received plan.txt", of: "oid-a") == secret)
    }

    @Test func `what was handed over is given to no one where its owner's gate closes while it is opened`() async throws
    {
        let keys = ObservedKeys()
        let apps = try await TwoApps(Self.managedOnly, keys: keys)
        let (receiver, item) = (apps.receiver, try await apps.handOver(secret))
        keys.whenAsked { receiver.gate.leftFront() }
        expectDenied(await failure(receiver, item, for: .managed("oid-a")))
        #expect(!keys.isWaiting)
    }

    private func failure(_ app: AppProtection, _ item: SharedItem, for receiver: Identity) async -> (any Error)? {
        do {
            _ = try await app.outlets.take(item, for: receiver)
            return nil
        } catch { return error }
    }

    private func expectDenied(_ failure: (any Error)?) {
        let denial = (failure as? ProtectionError)?.denial
        #expect(denial?.reasons.isEmpty == false, "\(String(describing: failure)) is no denial")
    }
}
