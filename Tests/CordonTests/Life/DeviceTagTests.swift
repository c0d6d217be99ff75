import Cordon
import CordonIdentity
import CordonProtocol
import Foundation
import Testing

/// SRV-CI-095: the tag that relates what is on one device is random, and goes with the organisation's data.
@Suite(.timeLimit(.minutes(10))) struct DeviceTagTests {
    private func start(_ device: Device) async throws -> AppProtection {
        try await device.start { $0.device = DeviceDescription(osVersion: "1.0", model: "test") }
    }

    /// Whether a file of the app holds a text, inside a seal too.
    private func isStored(_ text: String, on device: Device) throws -> Bool {
        let folder = device.folder
        let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        return names.contains { name in
            let file = folder.appending(path: name)
            let contents = [try? Data(contentsOf: file), try? device.contents(ofState: file)]
            return contents.contains { $0?.range(of: Data(text.utf8)) != nil }
        }
    }

    @Test func `Cordon makes a tag where the app gives none, and keeps it across a restart`() async throws {
        let device = try Device()
        try await device.publish([:])
        let first = try await start(device)
        await first.enroll(device.account)
        let tag = try #require(await device.service.registered.first?.device.tag)
        #expect(UUID(uuidString: tag) != nil)
        await first.checkIn(device.account.id)
        let second = try await start(device)
        await second.checkIn(device.account.id)
        #expect(await device.service.checkIns.map(\.device.tag) == [tag, tag])
        let other = try Device()
        try await other.publish([:])
        await (try await start(other)).enroll(other.account)
        #expect(await other.service.registered.first?.device.tag != tag)
    }

    @Test func `the tag goes with the wipe, and an account that comes back has another`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await start(device)
        await protection.enroll(device.account)
        let tag = try #require(await device.service.registered.first?.device.tag)
        // The control: it would be found.
        #expect(try isStored(tag, on: device))
        #expect(await protection.unenroll(device.account.id) == .unenrolled)
        #expect(try !isStored(tag, on: device))
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await device.service.registered.last?.device.tag != tag)
    }

    @Test func `a tag that the app gives is used as it is, and Cordon's own where it gives none any more`() async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        await protection.checkIn(device.account.id)
        #expect(await device.service.registered.map(\.device.tag) == ["tag-1"])
        let updated = try await start(device)
        await updated.checkIn(device.account.id)
        await updated.checkIn(device.account.id)
        let tags = await device.service.checkIns.map(\.device.tag)
        #expect(tags.count == 3 && tags[0] == "tag-1" && tags[1] != "tag-1" && tags[1] == tags[2])
    }
}
