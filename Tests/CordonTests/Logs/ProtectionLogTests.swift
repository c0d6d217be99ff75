import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Logging
import Testing

@testable import Cordon

/// SDK-LG-01…04, SDK-ST-33, SDK-ST-35, SDK-CF-09: what stands in the log, how much, and what is left after a wipe.
@Suite(.timeLimit(.minutes(10))) struct ProtectionLogTests {
    private let device: Device

    init() throws { device = try Device() }

    private func text(_ log: ProtectionLog) -> String {
        log.files.reversed().map { (try? String(contentsOf: $0, encoding: .utf8)) ?? "" }.joined()
    }

    private func start(
        _ log: ProtectionLog, _ settings: ProtectionSettings = .init(), given: [String: JSONValue] = [:]
    ) async throws -> AppProtection {
        try await device.start { configuration in
            configuration.managedConfiguration = given
            configuration.logFile = log
            configuration.settings = settings
            configuration.logger = Logger(label: "cordon") { log.handler($0) }
        }
    }

    private func makeLog(limit: Int = 1 << 20, kept: Int = 2) throws -> ProtectionLog {
        try ProtectionLog(dataDirectory: device.folder.appending(path: "data"), limit: limit, kept: kept)
    }

    @Test func `secrets, sensitive values and line breaks do not get into a line`() throws {
        let log = try makeLog()
        var logger = Logger(label: "app") { log.handler($0) }
        logger[metadataKey: "access-token"] = "abc.def"
        logger.warning(
            "first\nsecond\u{2028}third",
            metadata: [
                "name": "\("Ada", attributes: [LogSensitivity.sensitive])", "pin": "2580", "spinning": "wheel",
                "nested": ["password": "hunter2", "fine": "yes"], "list": ["a", "b"],
            ])
        let line = text(log)
        #expect(line.split(separator: "\n").count == 1)
        for secret in ["abc.def", "Ada", "2580", "hunter2"] { #expect(!line.contains(secret)) }
        for open in ["warning app first\\u{a}second", "spinning=wheel", "fine=yes", "list=[a, b]"] {
            #expect(line.contains(open), "\(line)")
        }
        // The control: the same value without the mark is written.
        logger.warning("x", metadata: ["name": "Ada"])
        #expect(text(log).contains("name=Ada"))
    }

    @Test(arguments: [true, false])
    func `an app that observes nothing at its launch is warned, SDK-CO-10`(observes: Bool) async throws {
        let log = try makeLog()
        let protection = try await start(log)
        let events = observes ? protection.events() : nil
        await protection.launch()
        #expect(text(log).contains("events are not observed yet") != observes)
        withExtendedLifetime(events) {}
    }

    @Test func `the files are bounded, rotated, readable by their owner alone, and named by the diagnostics`()
        async throws
    {
        let log = try makeLog(limit: 4096, kept: 2)
        let protection = try await start(log)
        let logger = Logger(label: "app") { log.handler($0) }
        for number in 0..<500 { logger.info("line number \(number) of five hundred") }
        logger.info("\(String(repeating: "long ", count: 10_000))")
        #expect(log.files.count == 3)
        for file in log.files {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(try Data(contentsOf: file).count <= 4096)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(text(log).contains("line number 499 ") && !text(log).contains("line number 0 "))
        #expect(protection.diagnostics.logs == log.files)
    }

    @Test func `the settings say how much is written`() async throws {
        let log = try makeLog()
        let logger = Logger(label: "app") { log.handler($0) }
        logger.debug("quiet")
        var settings = ProtectionSettings()
        settings.logsVerbosely = true
        _ = try await start(log, settings)
        logger.debug("verbose")
        #expect(!text(log).contains("quiet") && text(log).contains("debug app verbose"))
    }

    @Test func `values of the listed configuration keys are taken out, wherever they stand`() async throws {
        await device.service.set { service in
            service.change = {
                $0.configurations = [.object(["costCentre": .string("K-4711"), "colour": .string("teal")])]
            }
        }
        let log = try makeLog()
        let protection = try await start(log)
        try await device.publish(["printBlocked": .bool(true)])
        #expect(await protection.enroll(device.account) == .newPolicies)
        let logger = Logger(label: "app") { log.handler($0) }
        logger.info("before K-4711")
        try await protection.settings.change { $0.scrubbedKeys = ["costCentre"] }
        logger.info("the centre is K-4711 and teal", metadata: ["note": "K-4711", "costCentre": "other"])
        let last = try #require(text(log).split(separator: "\n").last)
        #expect(!last.contains("K-4711") && !last.contains("other") && last.contains("teal"))
        #expect(text(log).contains("before K-4711"))
    }

    @Test func `values that the device's management gave are taken out from the start, whoever's they are`()
        async throws
    {
        var settings = ProtectionSettings()
        settings.scrubbedKeys = ["costCentre"]
        let log = try makeLog()
        let protection = try await start(log, settings, given: ["costCentre": "K-4711", "colour": "teal"])
        let logger = Logger(label: "app") { log.handler($0) }
        logger.info("the centre is K-4711 and teal")
        try await device.publish([:])
        #expect(await protection.enroll(device.account) == .newPolicies)
        logger.info("and still K-4711")
        #expect(!text(log).contains("K-4711") && text(log).contains("teal") && text(log).contains("and still"))
    }

    @Test func `a wipe takes out what names the account, and everything verbose`() async throws {
        var settings = ProtectionSettings()
        settings.logsVerbosely = true
        let log = try makeLog()
        let protection = try await start(log, settings)
        try await device.publish(["printBlocked": .bool(true)])
        await protection.enroll(device.account)
        let logger = Logger(label: "app") { log.handler($0) }
        logger.info("asked for OID-A")
        logger.info("mail of Worker-A@contoso.example")
        logger.debug("opened the plan for the merger")
        logger.info("asked for oid-b")
        try await protection.wipe(device.account.id)
        #expect(!text(log).lowercased().contains("oid-a") && !text(log).lowercased().contains("worker-a@"))
        #expect(!text(log).contains("merger"))
        #expect(text(log).contains("asked for oid-b"))
    }

    @Test func `a name that stands in the log in another form than its own is forgotten, too`() throws {
        let log = try makeLog()
        let logger = Logger(label: "app") { log.handler($0) }
        let names = ["oid\u{7}-\u{200D}a", "worker-a@contoso.example"]
        logger.info("registered", metadata: [ProtectionLog.accountField: "\(names[0])"])
        log.scrub(["contoso"])
        logger.info("mail of \(names[1])")
        logger.info("mail of worker-b@contoso.example")
        #expect(text(log).contains("oid\\u{7}-\\u{200d}a") && text(log).contains("worker-a@(removed)"), "the control")
        let own = ManagedAccount(id: AccountID(names[0]), tenant: TenantID("contoso"), userPrincipalName: names[1])
        let uploaded = { (account: ManagedAccount, others: [String]) in
            String(decoding: log.text(about: account, without: others, atMost: 1 << 20), as: UTF8.self)
        }
        #expect(uploaded(own, []).contains("registered"), "it is the account's own")
        #expect(!uploaded(device.account, names).contains("worker-a"))
        // As after a start, or under another configuration.
        log.scrub([])
        try log.forget(names)
        #expect(!text(log).contains("registered") && !text(log).contains("worker-a"))
        #expect(text(log).contains("worker-b"))
    }

    @Test func `a wipe removes what a kill has left of forgetting another account`() async throws {
        let log = try makeLog()
        let protection = try await start(log)
        try await device.publish([:])
        await protection.enroll(device.account)
        let draft = device.folder.appending(path: "data/logs/cordon.1.log.\(UUID().uuidString).new")
        try Data("2026-01-01T00:00:00Z info app asked for oid-a\n".utf8).write(to: draft)
        try await protection.wipe(device.account.id)
        #expect(device.files(in: "logs") == ["cordon.log"])
    }

    @Test func `what is told of a wipe's end does not name the account`() async throws {
        let log = try makeLog()
        let protection = try await start(log)
        try await device.publish([:])
        await protection.enroll(device.account)
        #expect(text(log).contains("account=oid-a"), "the control")
        await device.service.set { $0.commands = [.wipe()] }
        #expect(await protection.checkIn(device.account.id) == .wipeReceived)
        #expect(text(log).contains("ended with"))
        #expect(!text(log).lowercased().contains("oid-a") && !text(log).lowercased().contains("worker-a@"))
    }

    @Test func `half a line hides no verbose one after it from a wipe, and from what is uploaded`() throws {
        let log = try makeLog()
        let file = device.folder.appending(path: "data/logs/cordon.log")
        try Data("2026-01-01T00:00:00Z info app half a li".utf8).write(to: file)
        var logger = Logger(label: "app") { log.handler($0) }
        logger.logLevel = .trace
        logger.debug("opened the plan for the merger")
        logger.info("after")
        #expect(text(log).contains("merger"), "the control")
        let uploaded = String(decoding: log.text(about: device.account, without: [], atMost: 1 << 20), as: UTF8.self)
        #expect(!uploaded.contains("merger") && uploaded.contains("half a li") && uploaded.contains("after"))
        try log.forget(["oid-other"])
        #expect(!text(log).contains("merger") && text(log).contains("half a li") && text(log).contains("after"))
    }

    @Test func `what a version of the app that kept more has left is read, looked through by a wipe, and goes`()
        async throws
    {
        let former = try makeLog(limit: 4096, kept: 2)
        let old = Logger(label: "app") { former.handler($0) }
        for number in 0..<200 { old.info("\(number) asked for OID-A") }
        let log = try makeLog(limit: 4096, kept: 0)
        #expect(log.files == former.files && log.files.count == 3)
        let protection = try await start(log)
        try await device.publish([:])
        await protection.enroll(device.account)
        try await protection.wipe(device.account.id)
        for file in former.files {
            #expect(try !String(contentsOf: file, encoding: .utf8).lowercased().contains("oid-a"), "\(file)")
        }
        let logger = Logger(label: "app") { log.handler($0) }
        for number in 0..<200 { logger.info("line number \(number) of two hundred") }
        #expect(device.files(in: "logs") == ["cordon.log"])
    }

    @Test func `a log that a wipe cannot look through is in its receipt, and no account leaves without a wipe`()
        async throws
    {
        let log = try makeLog()
        let protection = try await start(log)
        try await device.publish([:])
        await protection.enroll(device.account)
        Logger(label: "app") { log.handler($0) }.info("asked for OID-A")
        let lock = device.folder.appending(path: "data/logs.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        #expect(await protection.unenroll(device.account.id, wiping: false) != .unenrolled)
        #expect(protection.enrolledAccounts == [device.account])
        try await protection.wipe(device.account.id)
        let sent = try #require(await device.service.acknowledgements.last?.receipt)
        let receipt = try WipeReceipt(verifying: sent, signedBy: device.sessions.publicKey)
        #expect(!receipt.succeeded)
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test func `many writers lose no line`() async throws {
        let (one, two) = (try makeLog(), try makeLog())
        await withTaskGroup { group in
            for number in 0..<100 {
                let log = number.isMultiple(of: 2) ? one : two
                group.addTask { Logger(label: "app") { log.handler($0) }.info("entry \(number)!") }
            }
        }
        for number in 0..<100 { #expect(text(one).contains("entry \(number)!")) }
    }
}
