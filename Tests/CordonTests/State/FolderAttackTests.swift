import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonVault
import Foundation
import Logging
import Testing

@testable import Cordon

/// Every file and folder of an enrolled app's home, with each thing that a process that can write there may put in its place: start, gate,
/// check-in and wipe end soon, nothing opens that was closed, and what lies outside the home stays as it is.
@Suite(.timeLimit(.minutes(10))) struct FolderAttackTests {
    /// What stands in a file's place.
    enum FileReplacement: String, CaseIterable {
        case nothing, empty, zeros, half, older, another
        case folder, pipe, huge, linkToFile, linkToNothing, linkToFolder, secondName
    }

    /// What stands in a folder's place.
    enum FolderReplacement: String, CaseIterable {
        case nothing, file, pipe, older, linkToCopy, linkToNothing
    }

    @Test func `every folder of state is marked as none for backups where the file system knows that`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        try await protection.files.write(Data("plan".utf8), as: "plan", of: house.account)
        let data = house.device.folder.appending(path: "data")
        for name in ["life", "registrations", "wipes", "guards", "launch", "pins"] {
            let folder = data.appending(path: name)
            #expect(FileManager.default.fileExists(atPath: folder.path), "\(name)")
            let isExcluded = BackupExclusion.isExcluded(folder)
            #expect(isExcluded == true || isExcluded == nil, "\(name)")
        }
    }

    @Test(arguments: FileReplacement.allCases)
    func `whatever stands in a file's place, nothing opens, waits or reaches outside`(
        replacement: FileReplacement
    ) async throws {
        let home = try await AttackedHome()
        let files = try home.files()
        #expect(files.count > 25, "\(files)")
        for (index, file) in files.enumerated() where Self.isTried(index, replacement.ordinal) {
            try await home.expectClosed(after: "\(replacement.rawValue) in place of \(file)") { copy in
                let place = copy.folder.appending(path: file)
                try replace(place, by: replacement, on: copy, other: files[(index + 1) % files.count])
            }
        }
    }

    /// A third of all pairs at every change, each file and each replacement among them; all of them in a deep run.
    private static func isTried(_ index: Int, _ ordinal: Int) -> Bool {
        DeepRun.isDeep || (index + ordinal).isMultiple(of: 3)
    }

    private func replace(
        _ place: URL, by replacement: FileReplacement, on copy: AttackedHome.Copy, other: String
    ) throws {
        let manager = FileManager.default
        let bytes = try Data(contentsOf: place)
        try manager.removeItem(at: place)
        switch replacement {
        case .nothing: break
        case .empty: try Data().write(to: place)
        case .zeros: try Data(count: bytes.count).write(to: place)
        case .half: try bytes.prefix(bytes.count / 2).write(to: place)
        case .older:
            let older = copy.older.appending(path: copy.name(of: place))
            if manager.fileExists(atPath: older.path) { try manager.copyItem(at: older, to: place) }
        case .another:
            let other = copy.folder.appending(path: other)
            if manager.fileExists(atPath: other.path) { try manager.copyItem(at: other, to: place) }
        case .folder:
            try manager.createDirectory(at: place, withIntermediateDirectories: false)
            try Data("inside".utf8).write(to: place.appending(path: "inside"))
        case .pipe: #expect(mkfifo(place.path, 0o600) == 0)
        case .huge:
            try Data().write(to: place)
            // A terabyte that takes no space.
            #expect(truncate(place.path, 1 << 40) == 0)
        case .linkToFile: try manager.createSymbolicLink(at: place, withDestinationURL: copy.victim)
        case .linkToNothing:
            try manager.createSymbolicLink(at: place, withDestinationURL: copy.outside.appending(path: "none"))
        case .linkToFolder: try manager.createSymbolicLink(at: place, withDestinationURL: copy.outside)
        case .secondName: try manager.linkItem(at: copy.victim, to: place)
        }
    }

    @Test(arguments: FolderReplacement.allCases)
    func `whatever stands in a folder's place, nothing opens, waits or reaches outside`(
        replacement: FolderReplacement
    ) async throws {
        let home = try await AttackedHome()
        let folders = try home.folders()
        #expect(folders.count > 12, "\(folders)")
        for (index, folder) in folders.enumerated() where Self.isTried(index, replacement.ordinal) {
            try await home.expectClosed(after: "\(replacement.rawValue) in place of \(folder)") { copy in
                let place = copy.folder.appending(path: folder)
                try replace(place, by: replacement, on: copy)
            }
        }
    }

    private func replace(_ place: URL, by replacement: FolderReplacement, on copy: AttackedHome.Copy) throws {
        let manager = FileManager.default
        let aside = copy.outside.appending(path: "copy")
        try manager.moveItem(at: place, to: aside)
        switch replacement {
        case .nothing: try manager.removeItem(at: aside)
        case .file:
            try manager.removeItem(at: aside)
            try Data("file".utf8).write(to: place)
        case .pipe:
            try manager.removeItem(at: aside)
            #expect(mkfifo(place.path, 0o600) == 0)
        case .older:
            try manager.removeItem(at: aside)
            let older = copy.older.appending(path: copy.name(of: place))
            if manager.fileExists(atPath: older.path) { try manager.copyItem(at: older, to: place) }
        case .linkToCopy: try manager.createSymbolicLink(at: place, withDestinationURL: aside)
        case .linkToNothing:
            try manager.removeItem(at: aside)
            try manager.createSymbolicLink(at: place, withDestinationURL: aside)
        }
    }

    @Test
    func `another file's second name where something is left of a key is taken away, and that file stays as it is`()
        async throws
    {
        let home = try await AttackedHome()
        let copy = try home.copy()
        defer { copy.remove() }
        let keys = copy.folder.appending(path: "data/vault/keys")
        let record = try #require(
            try FileManager.default.contentsOfDirectory(atPath: keys.path).first { $0.hasSuffix(".key") })
        let places = [".ended", ".former", ".\(String(repeating: "0", count: 32)).lost"].map {
            keys.appending(path: record.dropLast(4) + $0)
        }
        for place in places { try FileManager.default.linkItem(at: copy.victim, to: place) }
        let before = try AttackedHome.tree(copy.outside)
        await home.house.person.set { $0.pins = [.entered("2580")] }
        let protection = try await home.start(copy)
        #expect(await protection.launch(home.account).isOpen)
        #expect(try AttackedHome.tree(copy.outside) == before, "after the key was opened")
        try await protection.wipe(home.account)
        #expect(try AttackedHome.tree(copy.outside) == before, "after the wipe")
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys.path).isEmpty)
    }

    @Test func `a folder that was left open to other users is closed to them`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let state = folder.appending(path: "life")
        try FileManager.default.createDirectory(
            at: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        _ = try StateFolder(state)
        let facts = try FileManager.default.attributesOfItem(atPath: state.path)
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }

    @Test func `nothing of a home is open to another user of the machine`() async throws {
        let home = try await AttackedHome()
        let copy = try home.copy()
        defer { copy.remove() }
        // The readable file is what the app wrote by itself.
        let kept = try AttackedHome.tree(copy.folder).filter { !$0.key.hasSuffix("/readable") }
        #expect(kept.count > 40)
        #expect(kept.filter { $0.value.permissions & 0o077 != 0 }.map(\.key).sorted() == [], "\(home.account)")
    }

    @Test func `an untouched copy of the home opens with its PIN, so that the other tests show something`() async throws
    {
        let home = try await AttackedHome()
        let copy = try home.copy()
        defer { copy.remove() }
        let protection = try await home.start(copy)
        #expect(await !protection.launch(home.account).isOpen, "without the PIN it stays closed")
        await home.house.person.set { $0.pins = [.entered("2580")] }
        #expect(await protection.launch(home.account).isOpen)
        #expect(try await protection.files.read("plan", of: home.account) == AttackedHome.plan)
        #expect(await home.level(in: copy) == .blockOrganizationalData)
        #expect(await protection.failureOfWiping(home.account) == nil)
    }
}

/// An enrolled home with everything that an app can keep, and how it was under milder rules.
private final class AttackedHome: Sendable {
    static let plan = Data("the plan".utf8)

    let house: Gatehouse
    private let keys = InMemoryKeyStore()
    private let groupKeys = InMemoryKeyStore()
    /// How the home was under milder rules, and how it is.
    private let older: URL
    private let now: URL

    init() async throws {
        house = try await Gatehouse(inMemory: true)
        await house.device.service.set { $0.keepsShares = true }
        older = house.device.folder.appending(path: "older")
        now = house.device.folder.appending(path: "now")
        try FileManager.default.createDirectory(at: now, withIntermediateDirectories: true)
        let mild: [String: JSONValue] = [
            "pinRequired": .bool(false), "printBlocked": .bool(false), "notificationRestriction": .string("allow"),
        ]
        try await house.device.publish(mild)
        let place = Copy(folder: now, older: older, outside: now)
        let protection = try await start(place)
        guard await protection.enroll(house.device.account) == .newPolicies else {
            throw ProtectionError(.notEnrolled, "not enrolled")
        }
        try await protection.settings.change { $0.authority = "https://older.example" }
        try await protection.files.write(Data("an older plan".utf8), as: "plan", of: account)
        await protection.performDueWork()
        try TemporaryFolder.copy(now, to: older)

        let strict: [String: JSONValue] = [
            "pinRequired": .bool(true), "printBlocked": .bool(true),
            "notificationRestriction": .string("blockOrganizationalData"),
        ]
        try await house.device.publish(strict, asksForPIN: true)
        _ = await protection.checkIn(account)
        guard await protection.launch(account).isOpen else { throw ProtectionError(.gateClosed, "not open") }
        try await protection.settings.change { change in
            change.authority = "https://own.example"
            change.telemetryDisabled = false
        }
        try await protection.files.write(Self.plan, as: "plan", of: account)
        try await protection.files.background.write(Self.plan, as: "queue", of: account)
        let readable = now.appending(path: "data/files/readable")
        try Self.plan.write(to: readable)
        let owner = account
        try await protection.context.vault.protect(readable, for: owner, sealing: false)
        await protection.performDueWork()
        await protection.gate.keys.finishChanges(account)
        await protection.suspend()
        // Waits in the inbox, as the key has left the memory with the gate.
        try await protection.files.write(Data("received".utf8), as: "received", of: account)
        // Later than the PIN counts without being asked for.
        house.clock.advance(.seconds(3600))
        // Who attacks knows neither the PIN nor how to sign in.
        await house.person.set {
            $0.pins = [.cancelled]
            $0.signIns = [.cancelled]
        }
    }

    var account: AccountID { house.account }

    /// A copy of the home in which things are replaced, beside something that is not the app's.
    struct Copy: Sendable {
        let folder: URL
        let older: URL
        let outside: URL
        var victim: URL { outside.appending(path: "victim") }

        func name(of place: URL) -> String { String(place.path.dropFirst(folder.path.count + 1)) }
        func remove() { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
    }

    func copy() throws -> Copy {
        let place = house.device.folder.appending(path: UUID().uuidString)
        let copy = Copy(
            folder: place.appending(path: "home"), older: older, outside: place.appending(path: "outside"))
        try FileManager.default.createDirectory(at: copy.outside, withIntermediateDirectories: true)
        try TemporaryFolder.copy(now, to: copy.folder)
        try Data("not the app's\n".utf8).write(to: copy.victim)
        return copy
    }

    func start(_ copy: Copy) async throws -> AppProtection {
        let log = try ProtectionLog(dataDirectory: copy.folder.appending(path: "data"))
        return try await house.start { configuration in
            configuration.dataDirectory = copy.folder.appending(path: "data")
            configuration.keyStore = self.keys
            configuration.sharingGroup = self.group(in: copy)
            configuration.keepsBackgroundFiles = true
            configuration.logFile = log
            configuration.logger = Logger(label: "test") { log.handler($0) }
        }
    }

    private func group(in copy: Copy) -> SharingGroup {
        SharingGroup(directory: copy.folder.appending(path: "group"), keyStore: groupKeys)
    }

    /// What an extension shows; nothing where it cannot be told.
    func level(in copy: Copy) async -> NotificationLevel {
        guard
            let levels = try? NotificationLevels(
                group(in: copy), dataDirectory: copy.folder.appending(path: "extension"))
        else { return .block }
        return await levels.level(for: account)
    }

    /// Without the readable file: its note has its whole path, so that a wipe of a copy removes the first one.
    func files() throws -> [String] { try names { $0.type == .regular }.filter { !$0.hasSuffix("/readable") } }

    /// Without the two places that the app gives: what is put back with its numbers is not noticed there.
    func folders() throws -> [String] { try names { $0.type == .folder }.filter { !["data", "group"].contains($0) } }

    private func names(_ isWanted: (Entry) -> Bool) throws -> [String] {
        try Self.tree(now).filter { isWanted($0.value) }.map(\.key).sorted()
    }

    /// Starts the app on a copy in which something was replaced, without a network and with one, and wipes the account.
    func expectClosed(after attack: String, _ replace: (Copy) throws -> Void) async throws {
        let copy = try copy()
        defer { copy.remove() }
        try replace(copy)
        let before = try Self.tree(copy.outside)
        let began = ContinuousClock.now
        await house.goOffline()
        if let protection = await started(copy, attack) {
            #expect(await !protection.launch(account).isOpen, "\(attack)")
            await expectDenied(protection, attack)
            await house.goOnline()
            await protection.checkIn(account)
            await protection.performDueWork()
            await expectDenied(protection, attack)
            #expect(await level(in: copy) != .allow, "\(attack)")
            _ = await protection.telemetry.ledger()
            #expect(protection.settings.current.authority != "https://older.example", "\(attack)")
            if await protection.failureOfWiping(account) == nil {
                let keys = (try? Self.tree(copy.folder.appending(path: "data/vault/keys"))) ?? [:]
                #expect(!keys.contains { $0.key.hasSuffix(".key") && $0.value.type == .regular }, "\(attack)")
                await #expect(throws: VaultError.self, "\(attack)") {
                    try await protection.context.vault.unlock(account)
                }
            }
        } else {
            #expect(await level(in: copy) != .allow, "\(attack)")
        }
        #expect(ContinuousClock.now - began < .seconds(60), "\(attack)")
        #expect(try Self.tree(copy.outside) == before, "\(attack) changed what is not the app's")
    }

    private func started(_ copy: Copy, _ attack: String) async -> AppProtection? {
        do { return try await start(copy) } catch {
            #expect(error is ProtectionError, "\(attack): \(error)")
            return nil
        }
    }

    private func expectDenied(_ protection: AppProtection, _ attack: String) async {
        #expect(!protection.gate.isOpen(for: account), "\(attack)")
        #expect(!house.device.mayPrint(protection), "\(attack)")
        await #expect(throws: ProtectionError.self, "\(attack)") {
            _ = try await protection.files.read("plan", of: account)
        }
    }

    // MARK: What lies on the disk

    struct Entry: Equatable {
        enum Kind { case regular, folder, other }
        let type: Kind
        let permissions: Int
        let contents: Data?
    }

    /// Everything below a folder, by its path there.
    static func tree(_ folder: URL) throws -> [String: Entry] {
        var found: [String: Entry] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let place = folder.appending(path: name)
            let facts = try FileManager.default.attributesOfItem(atPath: place.path)
            let type: Entry.Kind =
                switch facts[.type] as? FileAttributeType {
                case .typeRegular?: .regular
                case .typeDirectory?: .folder
                default: .other
                }
            let size = (facts[.size] as? NSNumber)?.intValue ?? 0
            found[name] = Entry(
                type: type, permissions: (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0,
                contents: type == .regular && size < 1 << 24 ? try Data(contentsOf: place) : nil)
        }
        return found
    }
}

extension CaseIterable where Self: Equatable {
    /// The place among all cases.
    fileprivate var ordinal: Int { Array(Self.allCases).firstIndex(of: self) ?? 0 }
}
