import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// What an app keeps beside its registrations (settings changed at run time, what the service said, what notifications may show, logs that
/// wait), against an attacker who removes it, edits it, plants it or puts it back, and has neither key store nor counter.
@Suite(.timeLimit(.minutes(10))) struct SealedExtrasTests {
    /// What the attacker does with a file.
    enum Attack: CaseIterable {
        case older, plain, edited, removed, foreign, misplaced
    }

    /// A device whose counter is out of the attacker's reach.
    private func start(
        _ device: Device, _ change: (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> AppProtection {
        let counter = try FileStateCounter(directory: device.folder.appending(path: "numbers"))
        return try await device.start {
            $0.stateCounter = counter
            change(&$0)
        }
    }

    // MARK: Settings

    private func settings(_ device: Device) -> URL { device.folder.appending(path: "data/settings.json") }

    private static let planted = #"{"authority":"https://planted.example","telemetryDisabled":false}"#

    @Test(arguments: Attack.allCases)
    func `settings that are not the last ones change neither where people sign in nor what is sent`(
        attack: Attack
    ) async throws {
        let device = try Device()
        let own = "https://own.example"
        func started() async throws -> AppProtection { try await start(device) { $0.settings.authority = own } }
        let protection = try await started()
        try await protection.settings.change { $0.authority = "https://older.example" }
        let older = try Data(contentsOf: settings(device))
        try await protection.settings.change { change in
            change.authority = "https://last.example"
            change.telemetryDisabled = true
        }
        #expect(try await started().settings.current.authority == "https://last.example", "the last ones are taken")

        var last = try Data(contentsOf: settings(device))
        switch attack {
        case .older: try older.write(to: settings(device))
        case .plain: try Data(Self.planted.utf8).write(to: settings(device))
        case .edited:
            last[last.count / 2] ^= 1
            try last.write(to: settings(device))
        case .removed: try FileManager.default.removeItem(at: settings(device))
        case .foreign:
            let other = try Device()
            let foreign = try await start(other)
            try await foreign.settings.change { $0.authority = "https://planted.example" }
            try FileManager.default.removeItem(at: settings(device))
            try FileManager.default.copyItem(at: settings(other), to: settings(device))
        case .misplaced:
            _ = await discovered(protection)
            try Data(contentsOf: description(device)).write(to: settings(device))
        }
        let restarted = try await started()
        #expect(restarted.settings.current.authority == own)
        #expect(restarted.settings.current.telemetryDisabled, "it may have been switched off")
        #expect(!restarted.telemetry.isEnabled)
        try await restarted.settings.change { change in
            change.authority = "https://new.example"
            change.telemetryDisabled = nil
        }
        let after = try await started().settings.current
        #expect(after.authority == "https://new.example" && !after.telemetryDisabled, "a change settles it")
    }

    @Test func `older settings still name where sessions are to be ended`() async throws {
        let device = try Device()
        let protection = try await start(device)
        try await protection.settings.change { $0.authority = "https://older.example" }
        let older = try Data(contentsOf: settings(device))
        try await protection.settings.change { $0.authority = nil }
        try older.write(to: settings(device))
        let restarted = try await start(device)
        #expect(restarted.settings.current.authority == nil)
        try await restarted.settings.change { $0.accentColor = "#000001" }
        #expect(
            String(decoding: try device.contents(ofState: settings(device)), as: UTF8.self).contains("older.example"))
    }

    @Test func `plain settings of the version before are taken over once, whatever else is sealed already`()
        async throws
    {
        let device = try Device()
        _ = try await device.enrolled()
        // As a version leaves it that counted everything but the settings.
        let settings = settings(device)
        let numbers = device.folder.appending(path: "data/counters")
        let before = Set(device.files(in: "counters"))
        let probe = try await device.start()
        try await probe.settings.change { $0.authority = "https://probe.example" }
        let name = try settingsCounter(of: probe)
        #expect(before.contains(name + ".json"), "the first start notes that there are none")
        try FileManager.default.removeItem(at: numbers.appending(path: name + ".json"))
        try Data(##"{"authority":"https://kept.example","accentColor":"#00FF00"}"##.utf8).write(to: settings)

        let updated = try await device.start()
        #expect(updated.settings.current.authority == "https://kept.example")
        #expect(!updated.settings.current.telemetryDisabled)
        #expect(try String(contentsOf: settings, encoding: .utf8).contains("sealed"))
        try Data(Self.planted.utf8).write(to: settings)
        #expect(try await device.start().settings.current.authority == nil, "a second time it counts for nothing")
    }

    @Test func `plain settings that are planted where there were none count for nothing`() async throws {
        let device = try Device()
        _ = try await device.start()
        try Data(Self.planted.utf8).write(to: settings(device))
        #expect(try await device.start().settings.current.authority == nil)
    }

    @Test func `settings of a newer version are left as they are, and are not changed`() async throws {
        let device = try Device()
        let protection = try await device.start()
        try await protection.settings.change { $0.accentColor = "#00FF00" }
        let newer = try String(contentsOf: settings(device), encoding: .utf8).replacing(
            #""version":4"#, with: #""version":99"#)
        try newer.write(to: settings(device), atomically: true, encoding: .utf8)
        let restarted = try await device.start()
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            try await restarted.settings.change { $0.accentColor = "#0000FF" }
        }
        #expect(try String(contentsOf: settings(device), encoding: .utf8) == newer)
    }

    private func settingsCounter(of protection: AppProtection) throws -> String {
        try protection.context.seal.counterName("settings", "settings.json", isShared: false)
    }

    // MARK: What the service said

    private func description(_ device: Device) throws -> URL {
        let name = try #require(device.files(in: "life").first { $0.hasPrefix("service-") })
        return device.folder.appending(path: "data/life/\(name)")
    }

    private func discovered(_ protection: AppProtection) async -> ServiceDiscovery? {
        try? await protection.service.discovered()
    }

    @Test(arguments: Attack.allCases)
    func `a description of the service that is not the last one sends no one anywhere`(attack: Attack) async throws {
        let device = try Device()
        let protection = try await start(device)
        let first = try #require(await discovered(protection))
        let older = try Data(contentsOf: description(device))
        await device.service.set { $0.scope = "another" }
        let last = try #require(await discovered(protection))
        #expect(first != last)
        await device.service.set { $0.isUnreachable = true }
        #expect(try await discovered(start(device)) == last, "the last one is taken")

        let file = try description(device)
        switch attack {
        case .older: try older.write(to: file)
        case .misplaced:
            try await protection.settings.change { $0.accentColor = "#000001" }
            try Data(contentsOf: settings(device)).write(to: file)
        case .plain:
            var planted = last
            planted.checkIn = try #require(URL(string: "https://planted.example/mam/v1"))
            try MessageCoding.encode(planted).write(to: file)
        case .edited: try Data(contentsOf: file).dropLast(20).write(to: file)
        case .removed: try FileManager.default.removeItem(at: file)
        case .foreign:
            let other = try Device()
            _ = await discovered(try await start(other))
            try FileManager.default.removeItem(at: file)
            try FileManager.default.copyItem(at: description(other), to: file)
        }
        #expect(try await discovered(start(device)) == nil)
        await device.service.set { $0.isUnreachable = false }
        #expect(try await discovered(start(device)) == last)
        await device.service.set { $0.isUnreachable = true }
        #expect(try await discovered(start(device)) == last, "it is known again")
    }

    @Test func `a plain description of the version before is used, until this one has kept one`() async throws {
        let device = try Device()
        let protection = try await start(device)
        let known = try #require(await discovered(protection))
        let file = try description(device)
        let next = try Device()
        await next.service.set { $0.isUnreachable = true }
        let life = next.folder.appending(path: "data/life")
        try FileManager.default.createDirectory(
            at: life, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try MessageCoding.encode(known).write(to: life.appending(path: file.lastPathComponent))
        #expect(try await discovered(start(next)) == known)
        await next.service.set { $0.isUnreachable = false }
        _ = try await discovered(start(next))
        await next.service.set { $0.isUnreachable = true }
        try MessageCoding.encode(known).write(to: life.appending(path: file.lastPathComponent))
        #expect(try await discovered(start(next)) == nil)
    }

    // MARK: What notifications may show

    @Test(arguments: Attack.allCases)
    func `a level for notifications that is not the last one shows nothing`(attack: Attack) async throws {
        let device = try Device()
        let group = try group(on: device)
        let protection = try await start(device) { $0.sharingGroup = group }
        try await device.publish(["notificationRestriction": .string("allow")])
        await protection.enroll(device.account)
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        let values = group.directory.appending(path: "values")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: values.path).first)
        let file = values.appending(path: name)
        let older = try Data(contentsOf: file)
        #expect(await levels.level(for: "oid-a") == .allow)
        try await device.publish(["notificationRestriction": .string("blockOrganizationalData")])
        await protection.checkIn("oid-a")
        #expect(await levels.level(for: "oid-a") == .blockOrganizationalData)

        switch attack {
        case .older: try older.write(to: file)
        case .plain:
            // What a version before would have left: the bare buffer, sealed by the group.
            let vault = try GroupVault(group, directory: device.folder.appending(path: "former"))
            try await vault.sealed(.allow, of: "oid-a").write(to: file)
        case .edited: try Data(older.dropLast(8)).write(to: file)
        case .removed: try FileManager.default.removeItem(at: file)
        case .foreign: try Data(#"{"sealed":"QUJD","version":4}"#.utf8).write(to: file)
        case .misplaced:
            let vault = try GroupVault(group, directory: device.folder.appending(path: "other"))
            try vault.tell(try await vault.sealed(.allow, of: "oid-b"), of: "oid-b")
            #expect(await levels.level(for: "oid-b") == .allow)
            let other = values.appending(path: "notifications-" + FolderName.of("oid-b") + ".json")
            try Data(contentsOf: other).write(to: file)
        }
        #expect(await levels.level(for: "oid-a") == .block)
        try await protection.outlets.publishNotificationLevels()
        #expect(await levels.level(for: "oid-a") == .blockOrganizationalData, "the app says it anew")
    }

    @Test func `a level that is put back after the account has left shows nothing`() async throws {
        let device = try Device()
        let group = try group(on: device)
        let protection = try await start(device) { $0.sharingGroup = group }
        try await device.publish(["notificationRestriction": .string("allow")])
        await protection.enroll(device.account)
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        let file = group.directory.appending(path: "values/notifications-" + FolderName.of("oid-a") + ".json")
        let told = try Data(contentsOf: file)
        #expect(await levels.level(for: "oid-a") == .allow)
        await protection.unenroll("oid-a", wiping: false)
        try told.write(to: file)
        #expect(await levels.level(for: "oid-a") == .block)
    }

    @Test func `while it is not known whose wipe a record is, extensions show nothing of any account`() async throws {
        let device = try Device()
        let group = try group(on: device)
        let protection = try await start(device) { $0.sharingGroup = group }
        try await device.publish(["notificationRestriction": .string("allow")])
        await protection.enroll(device.account)
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        #expect(await levels.level(for: "oid-a") == .allow)
        try Data("{".utf8).write(to: device.folder.appending(path: "data/wipes/x.json"))
        _ = try await start(device) { $0.sharingGroup = group }
        #expect(await levels.level(for: "oid-a") == .block)
    }

    private func group(on device: Device) throws -> SharingGroup {
        SharingGroup(
            directory: device.folder.appending(path: "group"), keyStore: InMemoryKeyStore(),
            stateCounter: try FileStateCounter(directory: device.folder.appending(path: "numbers of the group")))
    }

    @Test func `a level that the version before has told is shown until this one has told one`() async throws {
        let device = try Device()
        let group = try group(on: device)
        let vault = try GroupVault(group, directory: device.folder.appending(path: "app"))
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        let file = group.directory.appending(path: "values/notifications-" + FolderName.of("oid-a") + ".json")
        let former = try await vault.sealed(.allow, of: "oid-a")
        try former.write(to: file)
        #expect(await levels.level(for: "oid-a") == .allow)
        try vault.tell(try await vault.sealed(.block, of: "oid-a"), of: "oid-a")
        try former.write(to: file)
        #expect(await levels.level(for: "oid-a") == .block)
        #expect(await vault.notificationLevel(of: "oid-a") == nil, "it is no word of the apps'")
    }

    @Test func `every app of the group counts what another one has told`() async throws {
        let device = try Device()
        let group = try group(on: device)
        func app(_ name: String) throws -> GroupVault {
            try GroupVault(group, directory: device.folder.appending(path: name))
        }
        let (first, second) = (try app("first"), try app("second"))
        try first.tell(try await first.sealed(.allow, of: "oid-a"), of: "oid-a")
        #expect(await second.notificationLevel(of: "oid-a") == .allow)
        try second.tell(try await second.sealed(.block, of: "oid-a"), of: "oid-a")
        #expect(await first.notificationLevel(of: "oid-a") == .block)
        try first.takeBackLevel(of: "oid-a")
        #expect(await second.notificationLevel(of: "oid-a") == nil)
    }

    @Test func `a group whose key's record is gone goes on with a new key`() async throws {
        let device = try Device()
        let group = try group(on: device)
        let vault = try GroupVault(group, directory: device.folder.appending(path: "app"))
        try vault.tell(try await vault.sealed(.allow, of: "oid-a"), of: "oid-a")
        let keys = group.directory.appending(path: "keys")
        for name in try FileManager.default.contentsOfDirectory(atPath: keys.path) where name.hasSuffix(".key") {
            try FileManager.default.removeItem(at: keys.appending(path: name))
        }
        try vault.tell(try await vault.sealed(.block, of: "oid-a"), of: "oid-a")
        #expect(await vault.notificationLevel(of: "oid-a") == .block)
    }
}
