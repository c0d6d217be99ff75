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
