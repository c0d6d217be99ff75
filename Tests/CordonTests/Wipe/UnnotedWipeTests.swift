import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import Cordon
@testable import CordonVault

/// Wipes of which the app has no record: something kept it from being written, or somebody has left a vault's note. They are resumed like any other.
@Suite(.timeLimit(.minutes(10))) struct UnnotedWipeTests {
    private let ada: AccountID = "oid-a"

    /// A vault's note that a wipe has begun, as anybody writes it who can write to the folder.
    enum Note: CaseIterable {
        case record, backgroundRecord, journal

        func leave(of account: AccountID, on device: Device, as name: String? = nil) throws {
            let vault = device.folder.appending(
                path: self == .backgroundRecord ? "data/background/vault" : "data/vault")
            let key = try #require(name ?? device.keys.first { $0.hasSuffix(".key") })
            if self == .journal {
                let journal = vault.appending(path: "wipes").appending(path: key.replacing(".key", with: ".json"))
                return try Data(#"{"report":{"account":"\#(account.rawValue)"}}"#.utf8).write(to: journal)
            }
            let id = Array(account.rawValue.utf8)
            var bytes = Array("CORDONWP".utf8) + [1, 0, UInt8(id.count), 0] + [UInt8](repeating: 0, count: 20) + id
            bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
            try Data(bytes).write(to: vault.appending(path: "keys").appending(path: key))
        }
    }

    private func start(_ device: Device, calls: Locked<Int> = Locked(0)) async throws -> AppProtection {
        try await device.start { configuration in
            configuration.keepsBackgroundFiles = true
            configuration.wipeHook = { _ in
                calls.withLock { $0 += 1 }
                return .removed
            }
        }
    }

    private func enrolled(_ device: Device) async throws -> AppProtection {
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await start(device)
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: ada)
        return protection
    }

    private func removeRegistration(on device: Device) throws {
        let folder = device.folder.appending(path: "data/registrations")
        for name in device.files(in: "registrations") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    private func expectNothing(on device: Device) {
        for folder in ["vault/keys", "background/vault/keys", "files", "registrations", "wipes"] {
            #expect(device.files(in: folder).isEmpty, "\(folder)")
        }
    }

    @Test(arguments: Note.allCases)
    func `a vault's note without a record has the account wiped at the next start, with one receipt`(
        note: Note
    ) async throws {
        let device = try Device()
        _ = try await enrolled(device)
        try note.leave(of: ada, on: device)
        let calls = Locked(0)
        let restarted = try await start(device, calls: calls)
        #expect(restarted.enrolledAccounts.isEmpty)
        await restarted.performDueWork()
        expectNothing(on: device)
        #expect(calls.withLock { $0 } == 1)
        let receipts = try await device.receipts()
        #expect(Set(receipts.map(\.commandID)).count == 1)
        #expect(receipts.allSatisfy { $0.succeeded && $0.cause == "interrupted" })
        #expect(await restarted.enroll(device.account) == .newPolicies)
        try await restarted.files.write(Data("new".utf8), as: "plan.txt", of: ada)
    }

    @Test(arguments: Note.allCases)
    func `a vault's note is found while the app runs, too`(note: Note) async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        try note.leave(of: ada, on: device)
        await protection.performDueWork()
        #expect(protection.enrolledAccounts.isEmpty)
        expectNothing(on: device)
        #expect(try await device.receipts().map(\.cause) == ["interrupted"])
    }

    @Test(arguments: Note.allCases, [false, true])
    func `an account with a vault's note and without a registration is removed before it is enrolled again`(
        note: Note, isWorkDone: Bool
    ) async throws {
        let device = try Device()
        _ = try await enrolled(device)
        try note.leave(of: ada, on: device)
        try removeRegistration(on: device)
        let restarted = try await start(device)
        if isWorkDone {
            await restarted.performDueWork()
            expectNothing(on: device)
            #expect(await device.sessions.ended == [ada])
        }
        #expect(await restarted.enroll(device.account) == .newPolicies)
        await #expect(throws: ProtectionError.self) { _ = try await restarted.files.read("plan.txt", of: ada) }
        try await restarted.files.write(Data("new".utf8), as: "plan.txt", of: ada)
        await restarted.performDueWork()
        #expect(try await restarted.files.read("plan.txt", of: ada) == Data("new".utf8))
    }

    @Test func `while the vaults' notes cannot be read, nobody is enrolled over a wipe, and they are looked at again`()
        async throws
    {
        let device = try Device()
        _ = try await enrolled(device)
        try Note.record.leave(of: ada, on: device)
        try removeRegistration(on: device)
        let restarted = try await start(device)
        await DiskFaults.$next.withValue({ $0 == "list" ? EIO : 0 }) {
            #expect(await restarted.wipes.nextAttempts().count == 1)
            #expect(await restarted.enroll(device.account) == .removingExistingAccount)
        }
        #expect(await restarted.enroll(device.account) == .newPolicies)
        await restarted.performDueWork()
        #expect(await restarted.wipes.nextAttempts().isEmpty)
    }

    @Test func `while the vaults' notes cannot be read, who signs out of an account that was never enrolled hears so`()
        async throws
    {
        let (device, calls) = (try Device(), Locked(0))
        try await device.publish([:])
        let protection = try await start(device, calls: calls)
        #expect(await protection.enroll(device.account) == .newPolicies)
        await DiskFaults.$next.withValue({ $0 == "list" ? EIO : 0 }) {
            #expect(await protection.unenroll("oid-never") == .notEnrolledAccount)
        }
        #expect(await protection.wipes.nextAttempts().isEmpty)
        #expect(calls.withLock { $0 } == 0)
    }

    @Test func `a vault's note has the account wiped also while the folder of journals cannot be listed`() async throws
    {
        let device = try Device()
        let protection = try await enrolled(device)
        try Note.record.leave(of: ada, on: device)
        // The first is of the records.
        let lists = Locked(0)
        await DiskFaults.$next.withValue({ call in
            guard call == "list" else { return 0 }
            return lists.withLock { count in
                count += 1
                return count == 2 ? EIO : 0
            }
        }) {
            #expect(await protection.wipes.resumeLost())
        }
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test func `who signs out of an account that only a vault's note tells of leaves nothing behind`() async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        let (key, context) = (try #require(device.keys.first), protection.context)
        for vault in context.vaults { _ = try await vault.wipe(ada) }
        try Note.record.leave(of: ada, on: device, as: key)
        // A removal that has not come to everything.
        try FileManager.default.createDirectory(at: context.folder(of: ada), withIntermediateDirectories: true)
        try removeRegistration(on: device)
        let restarted = try await start(device)
        #expect(await restarted.unenroll(ada) == .unenrolled)
        expectNothing(on: device)
    }

    @Test(arguments: ["", "garbage", #"{"report":{"account":"oid-b"}}"#])
    func `what lies in the place of a journal and tells of no wipe of the account closes nothing`(
        _ text: String
    ) async throws {
        let device = try Device()
        _ = try await enrolled(device)
        let name = try #require(device.keys.first { $0.hasSuffix(".key") }).replacing(".key", with: ".json")
        try Data(text.utf8).write(to: device.folder.appending(path: "data/vault/wipes").appending(path: name))
        let restarted = try await start(device)
        #expect(try await restarted.files.read("plan.txt", of: ada) == Data("plan".utf8))
        await restarted.performDueWork()
        #expect(try await device.receipts().isEmpty)
    }

    @Test func `a note under another name than its account's removes nothing`() async throws {
        let device = try Device()
        _ = try await enrolled(device)
        try Note.record.leave(of: ada, on: device, as: "x.key")
        let restarted = try await start(device)
        await restarted.performDueWork()
        #expect(try await restarted.files.read("plan.txt", of: ada) == Data("plan".utf8))
        #expect(try await device.receipts().isEmpty)
    }

    @Test func `an account whose first envelope's wipe cannot begin is registered until the wipe is done`() async throws
    {
        let device = try Device()
        try await device.publish([:])
        let protection = try await start(device)
        await device.service.set { $0.commands = [.wipe()] }
        let lock = protection.context.wipes.lock(of: ada)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        #expect(await protection.enroll(device.account) == .wipeReceived)
        #expect(protection.enrolledAccounts == [device.account])
        #expect(await protection.enrollments.registeredAccounts == [device.account])
        try FileManager.default.removeItem(at: lock)
        await protection.performDueWork()
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(await protection.enrollments.registeredAccounts.isEmpty)
        expectNothing(on: device)
    }

    @Test func `a wipe whose lock or records are out of reach ends the key, and the rest goes once they are back`()
        async throws
    {
        for isLock in [true, false] {
            let device = try Device()
            let protection = try await enrolled(device)
            let wipes = device.folder.appending(path: "data/wipes")
            let place = isLock ? protection.context.wipes.lock(of: ada) : wipes
            try? FileManager.default.removeItem(at: place)
            if isLock {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            } else {
                try Data().write(to: place)
            }
            #expect(await protection.failureOfWiping(ada) != nil)
            #expect(device.keys.isEmpty && device.files(in: "background/vault/keys").isEmpty)
            await #expect(throws: ProtectionError.self) { _ = try await protection.files.read("plan.txt", of: ada) }
            if isLock { #expect(try await start(device).enrolledAccounts.isEmpty, "closed until then") }
            try FileManager.default.removeItem(at: place)
            let restarted = try await start(device)
            #expect(restarted.enrolledAccounts.isEmpty)
            await restarted.performDueWork()
            expectNothing(on: device)
            #expect(Set(try await device.receipts().map(\.cause)) == ["app"])
            #expect(await restarted.enroll(device.account) == .newPolicies)
        }
    }

    @Test(arguments: [true, false])
    func `who signed out while nothing could be noted is signed out at a later try, once, and not enrolled again`(
        failsVaults: Bool
    ) async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        #expect(await protection.unenroll(ada, wiping: false) == .unenrolled)
        await device.service.set { $0.isUnreachable = true }
        #expect(await !protection.enroll(device.account).didSucceed)
        #expect(await protection.enrollments.registeredAccounts == [device.account])
        var ended = await device.sessions.ended.count
        let lock = device.folder.appending(path: "data/life.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        let outcome = await DiskFaults.$next.withValue({ failsVaults && $0 == "create" ? ENOSPC : 0 }) {
            await protection.unenroll(ada)
        }
        #expect(outcome == .wipeIncomplete)
        #expect(await device.sessions.ended.count == ended + (failsVaults ? 0 : 1))
        if !failsVaults {
            #expect(await protection.enroll(device.account) == .removingExistingAccount)
            #expect(await protection.unenroll(ada) == .wipeIncomplete)
            // Who asks again has the session ended again.
            ended += 1
        }
        try FileManager.default.removeItem(at: lock)
        for _ in 0..<2 {
            await protection.performDueWork()
            #expect(await device.sessions.ended.count == ended + 1)
        }
        #expect(await protection.enrollments.registeredAccounts.isEmpty)
        expectNothing(on: device)
    }
}
