import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// State that cannot be told denies; state of a newer version stays as it is.
@Suite(.timeLimit(.minutes(10))) struct StateDamageTests {
    @Test func `a counter that holds no number denies until the next check-in`() async throws {
        let device = try Device()
        let folder = device.folder.appending(path: "counters")
        let counter = try FileStateCounter(directory: folder)
        try await device.publish(["printBlocked": .bool(false)])
        await (try await device.start { $0.stateCounter = counter }).enroll(device.account)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasSuffix(".json") && !name.hasPrefix("sealed-") && !name.hasPrefix("counted-") {
            try Data("seven".utf8).write(to: folder.appending(path: name))
            #expect(throws: ProtectionError(.stateUnreadable, "")) {
                try counter.value(of: name.replacing(".json", with: ""))
            }
        }
        let restarted = try await device.start { $0.stateCounter = counter }
        #expect(!device.mayPrint(restarted))
        #expect(await restarted.checkIn(device.account.id) == .newPolicies)
        #expect(device.mayPrint(restarted))
    }

    @Test func `a folder that cannot be listed is not an empty one`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        await device.service.set { $0.isUnreachable = true }
        let data = device.folder.appending(path: "data")
        for name in ["registrations", "wipes"] {
            let aside = data.appending(path: name + "-aside")
            try FileManager.default.moveItem(at: data.appending(path: name), to: aside)
            try Data().write(to: data.appending(path: name))
            await protection.performDueWork()
            #expect(protection.enrolledAccounts == [device.account], "\(name)")
            #expect(device.mayPrint(protection), "\(name)")
            await #expect(throws: ProtectionError.self) { _ = try await device.start() }
            try FileManager.default.removeItem(at: data.appending(path: name))
            try FileManager.default.moveItem(at: aside, to: data.appending(path: name))
        }
    }

    @Test func `a damaged registration that cannot be put aside is told of once`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let data = device.folder.appending(path: "data")
        let name = try #require(device.files(in: "registrations").first)
        try Data("damaged".utf8).write(to: data.appending(path: "registrations").appending(path: name))
        let lock = data.appending(path: "registrations.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        let events = EventCatch(protection)
        for _ in 0..<2 { await protection.performDueWork() }
        let told = ProtectionEvent.stateSetAside(reason: "1 stored registrations could not be read")
        #expect(await events.count { $0 == told } == 1)
        #expect(device.files(in: "registrations") == [name])
    }

    @Test func `a life record of a newer version is left as it is, and keeps telemetry off`() async throws {
        let device = try Device()
        _ = try await device.enrolled()
        let file = device.folder.appending(path: "data/life/life.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacing(#""version":4"#, with: #""version":99"#).write(to: file, atomically: true, encoding: .utf8)
        let before = try Data(contentsOf: file)
        #expect(String(decoding: before, as: UTF8.self).contains("99"))
        let restarted = try await device.start()
        await restarted.performDueWork()
        await restarted.checkIn(device.account.id)
        #expect(!restarted.telemetry.isEnabled)
        await #expect(throws: ProtectionError(.stateUnwritable, "")) { try await restarted.telemetry.setEnabled(true) }
        #expect(try Data(contentsOf: file) == before)
        #expect(!device.files(in: "life").contains { $0.hasSuffix(".damaged") })
        #expect(restarted.enrolledAccounts == [device.account])
    }

    @Test func `what another process is about to put in a file's place is not written over`() async throws {
        let device = try Device()
        let protection = try await device.start()
        let draft = device.folder.appending(path: "data/life/life.json.new")
        try Data("half".utf8).write(to: draft)
        try await protection.telemetry.setEnabled(false)
        #expect(try Data(contentsOf: draft) == Data("half".utf8))
        #expect(
            device.files(in: "life").filter { $0.hasSuffix(".new") } == ["life.json.new"], "and nothing is left over")
    }
}
