import CordonPolicy
import CordonProtocol
import Foundation
import Logging
import Testing

@testable import Cordon

/// What stands in the place of an app's file and cannot be one: no call waits for it, and no number in it ends the process.
@Suite(.timeLimit(.minutes(10))) struct OddFilesTests {
    @Test(arguments: ["telemetry/ledger.jsonl", "settings.json", "logs/cordon.log"])
    func `a pipe in the place of a list, of settings or of a log is not waited for`(name: String) async throws {
        let device = try Device()
        let file = device.folder.appending(path: "data").appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        #expect(mkfifo(file.path, 0o600) == 0)
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        try await device.publish(["printBlocked": .bool(true)])
        let protection = try await device.start { $0.logFile = log }
        Logger(label: "app") { log.handler($0) }.info("a line")
        #expect(await protection.enroll(device.account) == .newPolicies)
        await protection.performDueWork()
        _ = await protection.telemetry.ledger()
        try await protection.wipe(device.account.id)
        #expect(device.keys.isEmpty)
    }

    @Test(arguments: ["telemetry/ledger.jsonl", "telemetry/ledger.jsonl.ended", "logs/cordon.log", "logs/cordon.1.log"])
    func `another file's second name in the place of a list or of a log leaves that file as it is`(
        name: String
    ) async throws {
        let device = try Device()
        let victim = device.folder.appending(path: "victim")
        let text = Data((String(repeating: "mine\n", count: 100) + "oid-a").utf8)
        try text.write(to: victim)
        let file = device.folder.appending(path: "data").appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try FileManager.default.linkItem(at: victim, to: file)
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        try await device.publish(["printBlocked": .bool(true)])
        let protection = try await device.start {
            $0.logFile = log
            $0.logger = Logger(label: "app") { log.handler($0) }
        }
        #expect(await protection.enroll(device.account) == .newPolicies)
        await protection.performDueWork()
        #expect(await !protection.telemetry.ledger().isEmpty, "what is sent is written down all the same")
        #expect(try log.files.contains { try String(contentsOf: $0, encoding: .utf8).contains("ended with") })
        try await protection.wipe(device.account.id)
        #expect(try Data(contentsOf: victim) == text)
        #expect(await protection.telemetry.ledger().allSatisfy { $0.event.account == nil })
    }

    @Test func `a folder in the place of a log keeps no name in the others`() throws {
        let device = try Device()
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        let logs = device.folder.appending(path: "data/logs")
        try FileManager.default.createDirectory(
            at: logs.appending(path: "cordon.1.log/inside"), withIntermediateDirectories: true)
        try Data("line about ada@contoso.example\n".utf8).write(to: logs.appending(path: "cordon.2.log"))
        try log.forget(["ada@contoso.example"])
        #expect(try Data(contentsOf: logs.appending(path: "cordon.2.log")).isEmpty)
    }

    @Test func `a list of telemetry that became too long goes on with its newest lines`() async throws {
        let device = try Device()
        try await device.publish([:])
        let file = device.folder.appending(path: "data/telemetry/ledger.jsonl")
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .newPolicies)
        await protection.performDueWork()
        let before = await protection.telemetry.ledger()
        #expect(!before.isEmpty)
        let lines = try Data(contentsOf: file)
        try Data(count: 70 << 20).write(to: file)
        try (Data("\n".utf8) + lines).append(to: file)
        #expect(await protection.telemetry.ledger() == before)
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        #expect(await protection.telemetry.ledger().starts(with: before))
        try await protection.wipe(device.account.id)
        #expect(try !String(decoding: Data(contentsOf: file), as: UTF8.self).contains(device.account.id.rawValue))
    }

    @Test func `a half of a line that names an account goes with a wipe`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { $0.telemetryEnabled = false }
        #expect(await protection.enroll(device.account) == .newPolicies)
        let file = device.folder.appending(path: "data/telemetry/ledger.jsonl")
        try Data(#"{"event":{"account":"oid-a","tena"#.utf8).write(to: file)
        try await protection.wipe(device.account.id)
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test func `the half of a line that a kill left hides no event that is sent after it`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .newPolicies)
        await protection.performDueWork()
        let before = await protection.telemetry.ledger()
        let file = device.folder.appending(path: "data/telemetry/ledger.jsonl")
        try Data(#"{"event":{"account":"oid-a","tena"#.utf8).append(to: file)
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        let sent = try await device.service.telemetry
            .flatMap { try MessageCoding.decode(TelemetryBatch.self, from: $0).events }
        #expect(sent.count > before.count)
        #expect(await protection.telemetry.ledger().map(\.event.reported) == sent)
    }

    @Test func `readings of a clock that no clock has shown end no process`() throws {
        let now = ClockReading(ManualClock().clock)
        for (wall, uptime) in [(Int64.min, Int64.min), (.max, .max), (.min, .max), (.max, .min), (0, -1)] {
            for boot in [now.boot, "another"] {
                let text = #"{"wall":\#(wall),"boot":"\#(boot)","uptime":\#(uptime)}"#
                let reading = try MessageCoding.decode(ClockReading.self, from: Data(text.utf8))
                for (earlier, later) in [(reading, now), (now, reading)] {
                    _ = earlier.elapsed(until: later) + earlier.atLeast(until: later)
                    _ = earlier.sameRun(until: later)
                }
            }
        }
    }
}

extension Data {
    fileprivate func append(to file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: self)
    }
}
