import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Logging
import Testing

/// SRV-CI-015, SRV-CI-024, SRV-CI-074: logs that an administrator asks for go out once, as the person saw them, or not at all.
@Suite(.timeLimit(.minutes(10))) struct LogRequestTests {
    private static let request = LogRequest(id: "request-1", notAfter: 9_000_000_000)
    private let shown = Locked<[Data]>([])

    /// An app with a log, asked for it; what the person answers.
    private func start(
        _ device: Device, answering answer: Bool? = true, _ change: (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> (AppProtection, EventCatch) {
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        let protection = try await device.start { configuration in
            configuration.logFile = log
            configuration.logger = Logger(label: "test") { log.handler($0) }
            if let answer {
                configuration.confirmLogUpload = { [shown] _, content in
                    shown.withLock { $0.append(content) }
                    return answer
                }
            }
            change(&configuration)
        }
        return (protection, EventCatch(protection))
    }

    private func device(asking: Bool = true) async throws -> Device {
        let device = try Device()
        try await device.publish([:])
        if asking { await device.service.set { $0.change = { $0.logRequests = [Self.request] } } }
        return device
    }

    private func end(_ events: EventCatch) async -> LogUploadReport.End? {
        let found = await events.first { if case .logs = $0 { true } else { false } }
        if case .logs(let report)? = found { return report.end } else { return nil }
    }

    @Test func `what the person agreed to arrives as it was shown, once, and the ledger says so`() async throws {
        let device = try await device()
        let (protection, events) = try await start(device)
        await protection.enroll(device.account)
        let sent = try #require(await end(events))
        let content = try #require(shown.withLock { $0.first })
        #expect(sent == .sent(bytes: content.count))
        #expect(await device.service.logs["request-1"] == content)
        let lines = content.split(separator: UInt8(ascii: "\n"))
        let report = try JSONValue(parsing: Data(try #require(lines.first)))
        #expect(report["accounts"]?.array?.count == 1)
        #expect(await protection.telemetry.ledger().contains { $0.event.properties[.action] == "logUpload" })

        await protection.checkIn(device.account.id)
        await protection.logs.answerRequests()
        let restarted = try await start(device).0
        await restarted.logs.answerRequests()
        #expect(shown.withLock { $0.count } == 1, "the person is not asked twice")
        #expect(await device.service.asked.count { $0.hasPrefix("PUT") } == 2, "one question, one piece")
    }

    @Test func `of another account's organisation nothing is told`() async throws {
        let device = try await device()
        let (protection, events) = try await start(device)
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 500, code: .internalError) }
        let other = ManagedAccount(
            id: "oid-other", tenant: TenantID("tenant-2"), userPrincipalName: "other@fabrikam.example")
        await protection.enroll(other)
        await device.service.set { $0.problem = nil }
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        Logger(label: "app") { log.handler($0) }.warning("about other@fabrikam.example")
        await protection.enroll(device.account)
        _ = await end(events)
        let text = String(decoding: try #require(shown.withLock { $0.first }), as: UTF8.self)
        #expect(text.contains(device.account.id.rawValue))
        #expect(!text.contains("oid-other") && !text.contains("fabrikam"))
        #expect(!text.contains(device.folder.path))
    }

    @Test func `a receipt that waits is counted for its own account's organisation alone`() async throws {
        let device = try Device()
        let accounts = TwoAccounts(device)
        let protection = try await accounts.enrolled(on: device, [:], [:]) { [shown] configuration in
            configuration.confirmLogUpload = { _, content in
                shown.withLock { $0.append(content) }
                return true
            }
        }
        let events = EventCatch(protection)
        await accounts.second.set { $0.refusesReports = true }
        try await protection.wipe(accounts.second.account.id)
        #expect(protection.diagnostics.report().waitingReceipts == 1, "the control")
        await accounts.first.set { $0.change = { $0.logRequests = [Self.request] } }
        await protection.checkIn(accounts.first.account.id)
        _ = await end(events)
        let content = try #require(shown.withLock { $0.first })
        let report = try JSONValue(parsing: Data(content.prefix { $0 != UInt8(ascii: "\n") }))
        #expect(report["waitingReceipts"]?.integer == 0)
    }

    @Test func `a person who declines is not asked again, and nothing is sent`() async throws {
        let device = try await device()
        let (protection, events) = try await start(device, answering: false)
        await protection.enroll(device.account)
        #expect(await end(events) == .declined)
        await protection.logs.answerRequests()
        #expect(shown.withLock { $0.count } == 1)
        #expect(await device.service.logs.isEmpty)
    }

    @Test func `without an interface, and with telemetry off, nothing is sent`() async throws {
        let device = try await device()
        let (protection, events) = try await start(device, answering: nil)
        await protection.enroll(device.account)
        #expect(await end(events) == .nobodyToAsk)
        try await protection.telemetry.setEnabled(false)
        let (second, more) = try await start(device)
        await second.logs.answerRequests()
        #expect(await end(more) == .telemetryOff)
        #expect(shown.withLock { $0.isEmpty })
        #expect(await device.service.logs.isEmpty)
        try await second.telemetry.setEnabled(true)
        await second.logs.answerRequests()
        #expect(await device.service.logs.count == 1, "the question was still open")
    }

    @Test func `an upload that broke off goes on where it was, after a restart too`() async throws {
        let device = try await device(asking: false)
        let (protection, events) = try await start(device)
        await protection.enroll(device.account)
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        let logger = Logger(label: "filler") { log.handler($0) }
        for number in 0..<400 { logger.info("\(number) \(String(repeating: "x", count: 1000))") }
        await device.service.set {
            $0.change = { $0.logRequests = [Self.request] }
            $0.takenPieces = 1
        }
        await protection.checkIn(device.account.id)
        #expect(await end(events) == .postponed(ProtectionError(.serviceUnusable, "")))
        logger.info("later")
        await device.service.set { $0.takenPieces = nil }
        let (restarted, more) = try await start(device)
        await restarted.logs.answerRequests()
        let content = try #require(shown.withLock { $0.first })
        #expect(content.count > LogRequest.largestPiece)
        #expect(await end(more) == .sent(bytes: content.count))
        #expect(await device.service.logs["request-1"] == content)
        #expect(shown.withLock { $0.count } == 1)
    }

    @Test func `a log is in the ledger once, from when it is sent for the first time`() async throws {
        let device = try await device(asking: false)
        let (protection, events) = try await start(device) { configuration in
            configuration.confirmLogUpload = { _, _ in
                await device.sessions.set { $0.tokenFailure = HeldSessions.refusal }
                return true
            }
        }
        func notes() async -> Int {
            await protection.telemetry.ledger().count { $0.event.properties[.action] == "logUpload" }
        }
        await protection.enroll(device.account)
        await device.service.set { $0.change = { $0.logRequests = [Self.request] } }
        await protection.checkIn(device.account.id)
        #expect(await end(events) == .postponed(ProtectionError(.serviceUnusable, "")))
        #expect(await notes() == 0, "no token could be had")
        await device.sessions.set { $0.tokenFailure = nil }
        await device.service.set { $0.takenPieces = 0 }
        await protection.logs.answerRequests()
        #expect(await notes() == 1)
        await device.service.set { $0.takenPieces = nil }
        await protection.logs.answerRequests()
        #expect(await device.service.logs.count == 1)
        #expect(await notes() == 1)
    }

    @Test(arguments: ["-5", "4000000"])
    func `a service that says it has what is not there gets nothing, until it says something else`(
        offset: String
    ) async throws {
        let device = try await device()
        await device.service.set { $0.statedOffset = offset }
        let (protection, events) = try await start(device)
        await protection.enroll(device.account)
        #expect(await end(events) == .postponed(ProtectionError(.serviceUnusable, "")))
        await device.service.set { $0.statedOffset = nil }
        await protection.logs.answerRequests()
        #expect(await device.service.logs["request-1"] == shown.withLock { $0.first })
    }

    @Test func `a request that comes while the person thinks about another is asked about next`() async throws {
        let device = try await device()
        let latch = Latch()
        let (protection, _) = try await start(device) { configuration in
            configuration.confirmLogUpload = { [shown] _, content in
                shown.withLock { $0.append(content) }
                await latch.pass()
                return true
            }
        }
        await protection.enroll(device.account)
        await latch.waitForArrival()
        let second = LogRequest(id: "request-2", notAfter: 9_000_000_000)
        await device.service.set { $0.change = { $0.logRequests = [Self.request, second] } }
        await protection.checkIn(device.account.id)
        await protection.logs.answerRequests()
        await latch.open()
        try await until { await device.service.logs.count == 2 }
        #expect(shown.withLock { $0.count } == 2, "each is asked about once")
    }

    @Test func `what another organisation asks for says nothing of an account that left`() async throws {
        let device = try await device()
        let (protection, events) = try await start(device)
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        await device.service.set { $0.change = { _ in } }
        await protection.enroll(device.account)
        Logger(label: "app") { log.handler($0) }.warning("about \(device.account.userPrincipalName)")
        await protection.unenroll(device.account.id, wiping: false)
        let text = try log.files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        #expect(!text.contains(device.account.userPrincipalName) && !text.contains(device.account.id.rawValue))
        _ = events
    }

    @Test(arguments: [true, false])
    func `what waits to be sent is sent as the person saw it, or the person is asked again`(isLink: Bool) async throws {
        let device = try await device()
        await device.service.set { $0.takenPieces = 0 }
        let (protection, events) = try await start(device)
        await protection.enroll(device.account)
        #expect(await end(events) == .postponed(ProtectionError(.serviceUnusable, "")))
        let name = try #require(device.files(in: "life").first { $0.hasPrefix("logs-") })
        let file = device.folder.appending(path: "data/life/\(name)")
        let other = device.folder.appending(path: "other")
        try Data("not for the organisation".utf8).write(to: other)
        try FileManager.default.removeItem(at: file)
        if isLink {
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        } else {
            try FileManager.default.linkItem(at: other, to: file)
        }
        await device.service.set { $0.takenPieces = nil }
        let (restarted, more) = try await start(device)
        await restarted.logs.answerRequests()
        #expect(await end(more) == .postponed(ProtectionError(.stateUnreadable, "")))
        #expect(await device.service.logs.isEmpty)
        await restarted.logs.answerRequests()
        #expect(shown.withLock { $0.count } == 2, "the person is asked again")
        #expect(await device.service.logs["request-1"] == shown.withLock { $0.last })
        #expect(try Data(contentsOf: other) == Data("not for the organisation".utf8))
    }

    @Test func `a wipe takes along what waits to be sent`() async throws {
        let device = try await device()
        await device.service.set { $0.takenPieces = 0 }
        let (protection, events) = try await start(device)
        await protection.enroll(device.account)
        #expect(await end(events) == .postponed(ProtectionError(.serviceUnusable, "")))
        #expect(device.files(in: "life").contains { $0.hasPrefix("logs-") })
        try await protection.wipe(device.account.id)
        #expect(!device.files(in: "life").contains { $0.hasPrefix("logs-") })
    }

    @Test func `a yes that comes while the account is being wiped writes nothing, notes nothing and sends nothing`()
        async throws
    {
        let device = try await device()
        let (first, events) = try await start(device, answering: nil)
        await first.enroll(device.account)
        #expect(await end(events) == .nobodyToAsk)
        await device.service.set { $0.takenPieces = 0 }
        let latch = Latch()
        let answering = Locked<Task<Void, Never>?>(nil)
        let (protection, _) = try await start(device) { configuration in
            configuration.confirmLogUpload = { _, _ in
                await latch.pass()
                return true
            }
            configuration.wipeHook = { _ in
                await latch.open()
                await answering.withLock { $0 }?.value
                return .leftToCordon
            }
        }
        answering.withLock { $0 = Task { await protection.logs.answerRequests() } }
        await latch.waitForArrival()
        try await protection.wipe(device.account.id)
        #expect(!device.files(in: "life").contains { $0.hasPrefix("logs-") })
        #expect(await device.service.asked.allSatisfy { !$0.hasPrefix("PUT") })
        #expect(await protection.telemetry.ledger().allSatisfy { $0.event.account == nil })
    }

    @Test func `a yes that comes while a leave waits for a check-in writes nothing and sends nothing`() async throws {
        let device = try await device()
        let (first, events) = try await start(device, answering: nil)
        await first.enroll(device.account)
        #expect(await end(events) == .nobodyToAsk)
        await device.service.set { $0.takenPieces = 0 }
        let (thinking, checkingIn) = (Latch(), Latch())
        let (protection, _) = try await start(device) { configuration in
            configuration.transport = HeldAnswers(device.service, to: "/checkins", latch: checkingIn)
            configuration.confirmLogUpload = { _, _ in
                await thinking.pass()
                return true
            }
        }
        let checkIn = Task { await protection.checkIn(device.account.id) }
        await checkingIn.waitForArrival()
        let answering = Task { await protection.logs.answerRequests() }
        await thinking.waitForArrival()
        let leaving = Task { await protection.unenroll(device.account.id, wiping: false) }
        try await until { protection.diagnostics.report().waitingUnenrollments == 1 }
        await thinking.open()
        await answering.value
        #expect(!device.files(in: "life").contains { $0.hasPrefix("logs-") })
        #expect(await device.service.asked.allSatisfy { !$0.hasPrefix("PUT") })
        await checkingIn.open()
        _ = await (checkIn.value, leaving.value)
    }

    @Test func `a log that waits for no request is removed at the next start, and one that waits for one stays`()
        async throws
    {
        let device = try await device()
        await device.service.set { $0.takenPieces = 0 }
        let (protection, events) = try await start(device)
        await protection.enroll(device.account)
        #expect(await end(events) == .postponed(ProtectionError(.serviceUnusable, "")))
        let waiting = device.files(in: "life").filter { $0.hasPrefix("logs-") }
        #expect(waiting.count == 1)
        try Data("left".utf8).write(to: device.folder.appending(path: "data/life/logs-left.json"))
        let (restarted, _) = try await start(device)
        await restarted.performDueWork()
        #expect(device.files(in: "life").filter { $0.hasPrefix("logs-") } == waiting)
    }

    @Test func `what another organisation asks for names no account that was never enrolled`() async throws {
        let device = try await device(asking: false)
        let list = [PolicyEnvelope.AllowedAccount(id: "oid-a", userPrincipalName: "worker-a@contoso.example")]
        await device.service.set { $0.change = { $0.allowedAccounts = list } }
        let (protection, events) = try await start(device)
        await protection.enroll(device.account)
        let other = ManagedAccount(
            id: "oid-other", tenant: TenantID("tenant-2"), userPrincipalName: "other@fabrikam.example")
        #expect(!protection.enrollments.admits(other))
        await device.service.set {
            $0.change = {
                $0.allowedAccounts = list
                $0.logRequests = [Self.request]
            }
        }
        await protection.checkIn(device.account.id)
        _ = await end(events)
        let text = String(decoding: try #require(shown.withLock { $0.first }), as: UTF8.self)
        #expect(text.contains("account=oid-a"), "the control: lines about the account are there")
        #expect(!text.contains("oid-other"))
    }

    @Test func `the log says nothing of an account that leaves before it was ever enrolled`() async throws {
        let device = try await device(asking: false)
        let (protection, _) = try await start(device)
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 500, code: .internalError) }
        await protection.enroll(device.account)
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        Logger(label: "app") { log.handler($0) }.warning("about \(device.account.userPrincipalName)")
        #expect(await protection.unenroll(device.account.id, wiping: false) == .unenrolled)
        let text = try log.files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        #expect(!text.contains(device.account.userPrincipalName))
    }
}
