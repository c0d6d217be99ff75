import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonVault

/// SDK-FP-05…07, FP-12…14, SDK-DP-01…06: an app's own paths, bytes and text, as the owner's policy asks.
@Suite(.timeLimit(.minutes(10))) struct ProtectingTests {
    private static let sealing: [String: JSONValue] = ["appDataEncryptionType": .string("whenDeviceLocked")]
    private static let readable: [String: JSONValue] = ["appDataEncryptionType": .string("useDeviceSettings")]
    private let secret = Data("the plan of the year".utf8)

    private func stage(
        _ rules: [String: JSONValue] = sealing
    ) async throws -> (device: Device, protection: AppProtection, folder: URL) {
        let device = try Device()
        let folder = device.folder.appending(path: "own")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await device.publish(rules)
        let protection = try await device.start { $0.protectedRoots = [folder] }
        guard await protection.enroll(device.account) == .newPolicies else { throw ProtectionError(.notEnrolled, "") }
        return (device, protection, folder)
    }

    private func file(_ name: String, in folder: URL) throws -> URL {
        let path = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try secret.write(to: path)
        return path
    }

    private func contents(_ file: SealedFile) throws -> Data {
        var bytes = Data(count: Int(try file.size()))
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes.prefix(count)
    }

    private func isReadable(_ path: URL) -> Bool {
        (try? Data(contentsOf: path))?.range(of: secret) != nil
    }

    @Test func `the owner's policy says whether a path is sealed, and a change of it is followed`() async throws {
        let (device, protection, folder) = try await stage()
        let account = device.account.id
        let paths = [try file("a", in: folder), try file("deep/b", in: folder)]
        try await protection.files.protect(folder, for: account)
        for path in paths {
            #expect(protection.files.isSealed(path) && !isReadable(path) && protection.files.owner(of: path) == account)
        }
        let opened = try await protection.files.open(paths[0], writing: false)
        #expect(try contents(opened) == secret)
        try opened.close()

        try await device.publish(Self.readable)
        await protection.checkIn(account)
        try await protection.files.protect(folder, for: account)
        for path in paths {
            #expect(!protection.files.isSealed(path) && isReadable(path) && protection.files.owner(of: path) == account)
        }
        try await protection.files.protect(paths[0], for: nil)
        #expect(protection.files.owner(of: paths[0]) == nil)
    }

    @Test func `protecting a folder above Cordon's own state leaves that as it is, the account's named files too`()
        async throws
    {
        let (device, protection, folder) = try await stage()
        let account = device.account.id
        try await protection.files.write(secret, as: "named", of: account)
        _ = try file("plan", in: folder)
        func sealed() -> Set<String> {
            let walk = FileManager.default.enumerator(at: device.folder, includingPropertiesForKeys: nil)
            return Set((walk?.compactMap { $0 as? URL } ?? []).filter(protection.files.isSealed).map(\.path))
        }
        let before = sealed()
        #expect(!before.isEmpty)
        try await protection.files.protect(device.folder, for: account)
        #expect(sealed().subtracting(before).map { ($0 as NSString).lastPathComponent } == ["plan"])
        #expect(try await protection.files.read("named", of: account) == secret)
        // Nor does it take them from the account.
        try await protection.files.protect(device.folder, for: nil)
        #expect(sealed() == before)
    }

    @Test func `what the app keeps in the vault's folders for it is protected`() async throws {
        let (device, protection, folder) = try await stage()
        let account = device.account.id
        let temporary = try await protection.files.vault(of: account).temporaryDirectory(for: account)
        let plan = try file("plan", in: temporary)
        try await protection.files.protect(plan, for: account)
        #expect(protection.files.isSealed(plan))
        let target = folder.appending(path: "target")
        try await protection.files.replace(target, by: plan)
        #expect(protection.files.owner(of: target) == account)
        let error = await #expect(throws: ProtectionError.self) {
            try await protection.files.protect(device.folder.appending(path: "data/files"), for: account)
        }
        #expect(error?.code == .vault)
    }

    @Test func `a wipe removes what is the account's at paths of the app's own, and nothing else`() async throws {
        let (device, protection, folder) = try await stage()
        let account = device.account.id
        let sealed = try file("sealed", in: folder)
        let decrypted = try file("decrypted", in: folder)
        let copy = folder.appending(path: "copy")
        let mine = try file("mine", in: folder)
        let others = try file("others", in: folder)
        for path in [sealed, decrypted] { try await protection.files.protect(path, for: account) }
        try await protection.files.decrypt(sealed, toCopy: copy)
        try await protection.files.decrypt(decrypted)
        try await protection.files.protect(others, for: "oid-private")
        let buffer = try await protection.files.protect(secret, for: account)
        let text = try await protection.files.protect("the plan", for: account)
        #expect(isReadable(copy) && isReadable(decrypted), "the control")

        try await protection.wipe(account)
        for path in [sealed, decrypted, copy] {
            #expect(!FileManager.default.fileExists(atPath: path.path), "\(path.lastPathComponent) is left")
        }
        #expect(isReadable(mine) && isReadable(others))
        #expect(protection.files.owner(of: others) == "oid-private")
        await #expect(throws: ProtectionError(.vault, "")) { try await protection.files.unprotect(buffer) }
        await #expect(throws: ProtectionError(.vault, "")) { try await protection.files.unprotect(text) }
    }

    @Test func `bytes and text are sealed for an account that the policy protects, and only named for any other`()
        async throws
    {
        let (device, protection, _) = try await stage()
        let account = device.account.id
        let sealed = try await protection.files.protect(secret, for: account)
        #expect(sealed.range(of: secret) == nil)
        #expect(protection.files.owner(ofBuffer: sealed) == account)
        #expect(try await protection.files.unprotect(sealed) == secret)
        let named = try await protection.files.protect(secret, for: "oid-private")
        #expect(named.range(of: secret) != nil)
        #expect(protection.files.owner(ofBuffer: named) == "oid-private")
        #expect(try await protection.files.unprotect(named) == secret)
        #expect(try await protection.files.unprotect(secret) == secret, "what was never protected comes back as it is")

        let text = try await protection.files.protect("the plan", for: account)
        #expect(protection.files.owner(ofText: text) == account)
        #expect(try await protection.files.unprotect(text) == "the plan")
        await #expect(throws: ProtectionError(.vault, "")) { try await protection.files.unprotect(sealed.dropLast()) }
    }

    @Test func `what fails has the field's number, of files and of bytes`() async throws {
        func numbers(_ work: () async throws(ProtectionError) -> Void) async -> [Int?] {
            do throws(ProtectionError) {
                try await work()
                return []
            } catch { return [error.fileNumber, error.dataNumber] }
        }
        func namesOfNobody(_ app: AppProtection) async -> [Int?] {
            await numbers { () async throws(ProtectionError) in _ = try await app.files.names(of: "oid-nobody") }
        }
        let fresh = try Device()
        #expect(await namesOfNobody(try await fresh.start()) == [100, 100], "no account is managed")
        let (device, app, folder) = try await stage()
        let account = device.account.id
        #expect(await namesOfNobody(app) == [106, 100], "another one is managed")
        let personal = await IdentityContext.with(.personal) {
            await numbers { () async throws(ProtectionError) in try await app.files.write(secret, as: "a") }
        }
        #expect(personal == [106, 100])

        let (plain, nowhere) = (try file("plain", in: folder), folder.appending(path: "nowhere"))
        let files: [(number: Int, failing: @Sendable () async throws(ProtectionError) -> Void)] = [
            (103, { () async throws(ProtectionError) in try await app.files.decrypt(plain) }),
            (104, { () async throws(ProtectionError) in try await app.files.decrypt(nowhere) }),
            (104, { () async throws(ProtectionError) in _ = try await app.files.read("nowhere", of: account) }),
        ]
        for (number, failing) in files { #expect(await numbers(failing).first == number) }
        let damaged = try await app.files.protect(secret, for: account).dropLast()
        let bytes: [(number: Int, failing: @Sendable () async throws(ProtectionError) -> Void)] = [
            (103, { () async throws(ProtectionError) in _ = try await app.files.unprotect(damaged) }),
            (
                104,
                { () async throws(ProtectionError) in _ = try await app.files.unprotect(Data("x".utf8), context: "y") }
            ),
            (105, { () async throws(ProtectionError) in _ = try await app.files.protect(Data(), for: account) }),
        ]
        for (number, failing) in bytes { #expect(await numbers(failing).last == number) }

        try await app.wipe(account)
        #expect(await namesOfNobody(app) == [100, 100])
        #expect(
            ProtectionError(.outletFailed, "").fileNumber == nil && ProtectionError(.noPermit, "").dataNumber == nil)
    }

    @Test func `a closed gate closes what is protected, and leaves protecting open`() async throws {
        let house = try await Gatehouse()
        let folder = house.device.folder.appending(path: "own")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let protection = try await house.opened(Self.sealing) { $0.protectedRoots = [folder] }
        let path = try file("a", in: folder)
        try await protection.files.protect(path, for: house.account)
        let buffer = try await protection.files.protect(secret, for: house.account)
        _ = try await protection.files.vault(of: house.account)
        await protection.suspend()

        let closed = ProtectionError(.gateClosed, "")
        await #expect(throws: closed) { try await protection.files.decrypt(path) }
        await #expect(throws: closed) { try await protection.files.decrypt(path, toCopy: folder.appending(path: "b")) }
        await #expect(throws: closed) { try await protection.files.open(path, writing: false) }
        await #expect(throws: closed) { try await protection.files.unprotect(buffer) }
        await #expect(throws: closed) { try await protection.files.protect(path, for: nil) }
        await #expect(throws: closed) { try await protection.files.protect(folder, for: "oid-private") }
        await #expect(throws: closed) { try await protection.files.vault(of: house.account) }
        #expect(protection.files.isSealed(path) && !isReadable(path))
        let late = try file("late", in: folder)
        try await protection.files.protect(late, for: house.account)
        #expect(protection.files.isSealed(late))
    }

    @Test func `a file that comes while the gates are asked does not change hands`() async throws {
        let house = try await Gatehouse()
        let folder = house.device.folder.appending(path: "own")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let protection = try await house.opened(Self.readable) { $0.protectedRoots = [folder] }
        let path = try file("deep/a", in: folder)
        try await protection.files.protect(path, for: house.account)
        let (deep, aside) = (folder.appending(path: "deep"), house.device.folder.appending(path: "aside"))
        try FileManager.default.moveItem(at: deep, to: aside)
        await protection.suspend()
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            try await DiskFaults.$next.withValue({ call in
                if call == "list" { try? FileManager.default.moveItem(at: aside, to: deep) }
                return 0
            }) { try await protection.files.protect(folder, for: "oid-private") }
        }
        #expect(isReadable(path) && protection.files.owner(of: path) == house.account)
    }

    @Test func `a file that cannot be sealed is named to the app, and the others are sealed`() async throws {
        let (device, protection, folder) = try await stage()
        let paths = [try file("a", in: folder), try file("b", in: folder)]
        try FileManager.default.linkItem(at: paths[0], to: device.folder.appending(path: "again"))
        let error = await #expect(throws: ProtectionError.self) {
            try await protection.files.protect(folder, for: device.account.id)
        }
        #expect(error?.code == .vault && error?.reason.contains(paths[0].path) == true)
        #expect(paths.map { protection.files.isSealed($0) } == [false, true])
    }

    @Test func `an account that was enrolled once protects nothing until it is enrolled again`() async throws {
        let (device, protection, folder) = try await stage()
        let account = device.account.id
        let path = try file("a", in: folder)
        try await protection.files.protect(path, for: account)
        #expect(await protection.unenroll(account, wiping: false) == .unenrolled)
        let late = try file("late", in: folder)
        await #expect(throws: ProtectionError(.notEnrolled, "")) {
            try await protection.files.protect(late, for: account)
        }
        await #expect(throws: ProtectionError(.notEnrolled, "")) {
            try await protection.files.protect(secret, for: account)
        }
        await #expect(throws: ProtectionError(.notEnrolled, "")) { try await protection.files.vault(of: account) }
        await #expect(throws: ProtectionError(.vault, "")) { try await protection.files.decrypt(path) }
        #expect(isReadable(late) && !isReadable(path))
    }

    @Test func `what is opened through the vault closes with the account`() async throws {
        let (device, protection, folder) = try await stage()
        let vault = try await protection.files.vault(of: device.account.id)
        let file = try await vault.create(folder.appending(path: "a"), for: device.account.id)
        try secret.withUnsafeBytes { try file.write($0) }
        try await protection.wipe(device.account.id)
        #expect(throws: VaultError.self) { try contents(file) }
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "a").path))
    }

    @Test func `leaving a file without an owner is a line in the log, and giving it one is none`() async throws {
        let log = LogRecorder()
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let device = try Device()
        try await device.publish(Self.sealing)
        let protection = try await device.start {
            $0.protectedRoots = [folder]
            $0.logger = log.logger
        }
        await protection.enroll(device.account)
        let path = try file("a", in: folder)
        try await protection.files.protect(path, for: device.account.id)
        let isTold = { log.lines.contains { $0.hasPrefix("info files are left without an owner") } }
        #expect(!isTold())
        try await protection.files.protect(path, for: nil)
        #expect(isTold())
        #expect(!log.lines.contains { $0.contains(path.lastPathComponent + " ") || $0.contains(folder.path) })
        // Files without an owner stay when the account goes.
        try await protection.wipe(device.account.id)
        #expect(isReadable(path))
    }
}
