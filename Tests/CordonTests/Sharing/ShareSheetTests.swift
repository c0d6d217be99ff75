import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import Testing

/// Rows SDK-SX-01…02, SDK-NO-03 and CQ-24.
@Suite struct ShareSheetTests {
    private let offered = [
        ShareTarget(.copyTo, "other.viewer"), ShareTarget(.openIn, "example.viewer"),
        ShareTarget(.otherApp, "social"), ShareTarget(.managedApp, "example.mail"), ShareTarget(.print, "print"),
        ShareTarget(.clipboard, "copy"), ShareTarget(.photos, "photos"), ShareTarget(.files, "files"),
    ]

    @Test func `SC-07: where data goes to managed apps only, Open in is offered instead of Copy to`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([
            "allowedOutboundDataTransferDestinations": .string("managedApps"), "saveAsBlocked": .bool(true),
            "allowedOutboundClipboardSharingLevel": .string("managedApps"), "printBlocked": .bool(true),
        ])
        let sheet = protection.outlets.shareSheet(offered, for: .managed(device.account.id))
        #expect(sheet.shown.map(\.kind) == [.openIn, .managedApp, .clipboard])
        #expect(Set(sheet.hidden.keys.map(\.kind)) == [.copyTo, .otherApp, .print, .photos, .files])
        #expect(sheet.hidden.values.allSatisfy { !$0.reasons.isEmpty })
    }

    @Test func `everything is offered for personal data, and for an organisation that allows it`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        #expect(protection.outlets.shareSheet(offered, for: .personal).shown == offered)
        #expect(protection.outlets.shareSheet(offered, for: .managed(device.account.id)).shown == offered)
    }

    @Test func `nothing but what stays in the app is offered where data may go nowhere`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([
            "allowedOutboundDataTransferDestinations": .string("none"),
            "allowedOutboundClipboardSharingLevel": .string("blocked"), "printBlocked": .bool(true),
        ])
        #expect(protection.outlets.shareSheet(offered, for: .managed(device.account.id)).shown.isEmpty)
    }

    @Test(arguments: [
        ("allow", NotificationLevel.allow), ("blockOrganizationalData", .blockOrganizationalData), ("block", .block),
    ])
    func `an extension learns what notifications may show, and without a value shows nothing`(
        _ rule: String, _ level: NotificationLevel
    ) async throws {
        let device = try Device()
        let group = SharingGroup(directory: device.folder.appending(path: "group"), keyStore: InMemoryKeyStore())
        try await device.publish(["notificationRestriction": .string(rule)])
        let protection = try await device.start { $0.sharingGroup = group }
        await protection.enroll(device.account)
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        // Cordon says it without being asked (SDK-NO-03), and follows the rules.
        #expect(await levels.level(for: "OID-A") == level)
        try await device.publish(["notificationRestriction": .string("block")])
        await protection.checkIn("oid-a")
        #expect(await levels.level(for: "oid-a") == .block)
        try await device.publish(["notificationRestriction": .string(rule)])
        await protection.checkIn("oid-a")
        #expect(await levels.level(for: "oid-a") == level)
        #expect(await levels.level(for: "oid-b") == .block)
        let values = group.directory.appending(path: "values")
        for file in try FileManager.default.contentsOfDirectory(at: values, includingPropertiesForKeys: nil) {
            try Data("allow".utf8).write(to: file)
        }
        #expect(await levels.level(for: "oid-a") == .block)
        try await protection.outlets.publishNotificationLevels()
        #expect(await levels.level(for: "oid-a") == level)
        try await protection.wipe("oid-a")
        #expect(await levels.level(for: "oid-a") == .block)
    }

    @Test func `a process that does not know the newest rules yet tells extensions nothing over what these say`()
        async throws
    {
        let device = try Device()
        let group = SharingGroup(directory: device.folder.appending(path: "group"), keyStore: InMemoryKeyStore())
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        try await device.publish(["notificationRestriction": .string("allow")])
        let first = try await device.start { $0.sharingGroup = group }
        await first.enroll(device.account)
        let second = try await device.start { $0.sharingGroup = group }
        try await device.publish(["notificationRestriction": .string("block")])
        #expect(await first.checkIn("oid-a") == .newPolicies)
        try await second.outlets.publishNotificationLevels()
        #expect(await levels.level(for: "oid-a") == .block)

        // Once it knows them, its word counts as much.
        await second.performDueWork()
        try await device.publish(["notificationRestriction": .string("allow")])
        #expect(await second.checkIn("oid-a") == .newPolicies)
        #expect(await levels.level(for: "oid-a") == .allow)

        // Nor does it say anything of an account that has left.
        await first.unenroll("oid-a", wiping: false)
        try? await second.outlets.publishNotificationLevels()
        #expect(await levels.level(for: "oid-a") == .block)
    }

    @Test func `what extensions were told is not said again at a start, unless it is lost or another`() async throws {
        let device = try Device()
        let group = SharingGroup(directory: device.folder.appending(path: "group"), keyStore: InMemoryKeyStore())
        func start() async throws -> AppProtection { try await device.start { $0.sharingGroup = group } }
        func said() throws -> Data {
            let values = group.directory.appending(path: "values")
            let names = try FileManager.default.contentsOfDirectory(at: values, includingPropertiesForKeys: nil)
            return try Data(contentsOf: try #require(names.first))
        }
        try await device.publish(["notificationRestriction": .string("blockOrganizationalData")])
        await (try await start()).enroll(device.account)
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        let before = try said()
        let protection = try await start()
        #expect(try said() == before)
        #expect(await levels.level(for: "oid-a") == .blockOrganizationalData)
        try await device.publish(["notificationRestriction": .string("block")])
        await protection.checkIn("oid-a")
        #expect(await levels.level(for: "oid-a") == .block)

        // What does not open is said anew, although it may have been the same.
        let values = group.directory.appending(path: "values")
        for file in try FileManager.default.contentsOfDirectory(at: values, includingPropertiesForKeys: nil) {
            try Data("block".utf8).write(to: file)
        }
        try await device.publish(["notificationRestriction": .string("allow")])
        await (try await start()).checkIn("oid-a")
        #expect(await levels.level(for: "oid-a") == .allow)
    }

    @Test func `a document picker is offered while the rules leave any place open for it (SDK-DT-28)`() async throws {
        let device = try Device()
        func offered(_ rules: [String: JSONValue], for owner: Identity = .managed("oid-a")) async throws -> [Bool] {
            try await device.publish(rules)
            let protection = try await device.start()
            _ = await protection.enroll(device.account)
            await protection.checkIn("oid-a")
            return DocumentPickerMode.allCases.map { protection.rules.isDocumentPickerAllowed($0, for: owner) }
        }
        let closed: [String: JSONValue] = [
            "allowedOutboundDataTransferDestinations": .string("managedApps"), "saveAsBlocked": .bool(true),
            "allowedInboundDataTransferSources": .string("managedApps"),
            "blockDataIngestionIntoOrganizationDocuments": .bool(true), "allowedDataIngestionLocations": .array([]),
        ]
        #expect(try await offered([:]) == [true, true, true, true])
        #expect(try await offered(closed) == [false, false, false, false])
        #expect(try await offered(closed, for: .personal) == [true, true, true, true])
        let saving = closed.merging(["allowedDataStorageLocations": .array(["oneDriveForBusiness"])]) { $1 }
        #expect(try await offered(saving) == [false, false, true, true])
        let opening = closed.merging(["allowedDataIngestionLocations": .array(["sharePoint"])]) { $1 }
        #expect(try await offered(opening) == [true, true, false, false])
    }

    @Test func `an extension shows nothing of an account that left, or whose rules cannot be read`() async throws {
        let device = try Device()
        let group = SharingGroup(directory: device.folder.appending(path: "group"), keyStore: InMemoryKeyStore())
        let levels = try NotificationLevels(group, dataDirectory: device.folder.appending(path: "extension"))
        try await device.publish(["notificationRestriction": .string("allow")])
        let protection = try await device.start { $0.sharingGroup = group }
        await protection.enroll(device.account)
        #expect(await levels.level(for: "oid-a") == .allow)
        await protection.unenroll("oid-a", wiping: false)
        #expect(await levels.level(for: "oid-a") == .block)
        await protection.enroll(device.account)
        #expect(await levels.level(for: "oid-a") == .allow)
        // What the service never signed.
        _ = try await device.start(pin: SoftwareSigningKey().publicKey.thumbprint) { $0.sharingGroup = group }
        #expect(await levels.level(for: "oid-a") == .block)
    }
}
