import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Logging
import Testing

@testable import Cordon

/// What the log says of stored state: an error for each thing that is wrong with it, and none where nothing is.
@Suite(.timeLimit(.minutes(10))) struct StateLogTests {
    private let device: Device
    private let log: ProtectionLog

    init() throws {
        device = try Device()
        log = try ProtectionLog(dataDirectory: device.folder.appending(path: "log"))
    }

    private func start() async throws -> AppProtection {
        try await device.start { configuration in
            configuration.logger = Logger(label: "cordon") { [log] in log.handler($0) }
        }
    }

    private func enrolled() async throws -> AppProtection {
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await start()
        #expect(await protection.enroll(device.account) == .newPolicies)
        return protection
    }

    private var errors: [Substring] {
        log.files.map { (try? String(contentsOf: $0, encoding: .utf8)) ?? "" }.joined().split(separator: "\n")
            .filter { $0.contains(" error ") }
    }

    private func registration() throws -> URL {
        let name = try #require(device.files(in: "registrations").first { $0.hasSuffix(".json") })
        return device.folder.appending(path: "data/registrations").appending(path: name)
    }

    @Test func `where everything is as it should be, the log has no errors`() async throws {
        let protection = try await enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan", of: device.account.id)
        try await device.publish(["printBlocked": .bool(true)])
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        let restarted = try await start()
        await restarted.performDueWork()
        #expect(await restarted.unenroll(device.account.id) == .unenrolled)
        #expect(errors == [])
        Logger(label: "app") { log.handler($0) }.error("a control")
        #expect(errors.count == 1)
    }

    @Test func `state that was put back is in the log, and so is state that was set aside`() async throws {
        let protection = try await enrolled()
        let file = try registration()
        let old = try Data(contentsOf: file)
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        try old.write(to: file)
        _ = try await start()
        #expect(errors.contains { $0.contains("older than what was in force") })
        #expect(!errors.contains { $0.contains("set aside") })
        try Data("damaged".utf8).write(to: file)
        _ = try await start()
        #expect(errors.contains { $0.contains("set aside") })
    }

    @Test func `a command that cannot be noted, and so is not begun, is in the log`() async throws {
        let protection = try await enrolled()
        try Data(#"{"version":99}"#.utf8).write(to: device.folder.appending(path: "data/life/life.json"))
        let command = Command(
            id: "c1", kind: .refreshConfiguration, account: device.account.id, reason: .device, issuedAt: 0,
            notAfter: 9_000_000_000)
        await device.service.set { $0.commands = [command] }
        await protection.checkIn(device.account.id)
        #expect(await device.service.acknowledgements.isEmpty)
        #expect(errors.contains { $0.contains("a command could not be noted") })
    }
}
