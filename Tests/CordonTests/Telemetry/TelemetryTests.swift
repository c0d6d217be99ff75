import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import Cordon

/// SRV-CI-072…076: what is sent, to whom, and what the person can read of it.
@Suite(.timeLimit(.minutes(10))) struct TelemetryTests {
    private actor OwnSender: TelemetryDelegate {
        private(set) var events: [TelemetryEvent] = []
        func send(_ event: TelemetryEvent) { events.append(event) }
    }

    func worked(
        _ change: @escaping @Sendable (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> (Device, AppProtection) {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        let protection = try await device.start(change)
        await protection.enroll(device.account)
        try await protection.files.write(Data("secret plan".utf8), as: "secret name", of: device.account.id)
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        return (device, protection)
    }

    /// Every name and value of a message, wherever it stands.
    private func leaves(_ value: JSONValue, at path: String = "") -> Set<String> {
        switch value {
        case .object(let members): members.reduce(into: []) { $0.formUnion(leaves($1.value, at: path + "." + $1.key)) }
        case .array(let values): values.reduce(into: []) { $0.formUnion(leaves($1, at: path)) }
        default: ["\(path)=\(value.text())"]
        }
    }

    @Test func `everything that was sent is in the ledger, field by field`() async throws {
        let (device, protection) = try await worked()
        let sent = await device.service.telemetry
        #expect(!sent.isEmpty)
        let ledger = await protection.telemetry.ledger()
        let told = try ledger.reduce(into: Set<String>()) {
            $0.formUnion(leaves(try JSONValue(parsing: MessageCoding.encode($1.event.reported)), at: ".events"))
        }
        for message in sent {
            let fields = leaves(try JSONValue(parsing: message))
            #expect(fields.isSubset(of: told), "\(fields.subtracting(told))")
        }
        let events = try sent.flatMap { try MessageCoding.decode(TelemetryBatch.self, from: $0).events }
        #expect(events.allSatisfy { $0.fault == nil }, "the service would refuse it")
        #expect(Set(events.map(\.kind)) == [.appLaunch, .enrollment, .policyApplied])
        #expect(events.count == ledger.count)
        let restarted = try await device.start()
        #expect(await restarted.telemetry.ledger() == ledger, "it outlives the process")
    }

    @Test func `an event that did not reach the disk is taken back, and stands in the ledger once`() async throws {
        let (device, protection) = try await worked()
        var ledger = try TelemetryLedger(protection.context)
        let (event, moment) = (try #require(ledger.entries.last).event, Date(timeIntervalSince1970: 1))
        let flush = ledger.flush
        ledger.flush = { _ in false }
        #expect(!ledger.record([event], to: .service, at: moment))
        #expect(!ledger.entries.contains { $0.sent == moment })
        ledger.flush = flush
        #expect(ledger.record([event], to: .service, at: moment))
        #expect(ledger.entries.count { $0.sent == moment } == 1)
        #expect(device.files(in: "telemetry").contains("ledger.jsonl"))
    }

    @Test
    func `a ledger that cannot be read keeps a wipe from being done`() async throws {
        await #expect(processExitsWith: .success) {
            let (device, protection) = try await Self().worked()
            let ledger = try TelemetryLedger(protection.context)
            var usual = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual) == 0)
            // One more may be opened: the lock.
            let free = open("/dev/null", O_RDONLY)
            close(free)
            var few = rlimit(rlim_cur: rlim_t(free) + 1, rlim_max: usual.rlim_max)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few) == 0)
            #expect(throws: ProtectionError(.stateUnwritable, "")) { try ledger.forget(device.account.id) }
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
            try ledger.forget(device.account.id)
            try #require(ledger.entries.allSatisfy { $0.event.account == nil })
        }
    }

    @Test
    func
        `after a wipe the ledger keeps its lines and names neither account nor organisation, also where it lay before`()
        async throws
    {
        let (device, protection) = try await worked()
        let before = await protection.telemetry.ledger()
        #expect(before.contains { $0.event.account == device.account.id && $0.event.tenant != nil })
        let file = device.folder.appending(path: "data/telemetry/ledger.jsonl")
        let held = try #require(FileHandle(forReadingAtPath: file.path))
        // A kill has left it while another account was taken out.
        let draft = file.deletingLastPathComponent().appending(path: ".ledger.jsonl.\(UUID().uuidString).new")
        try Data(contentsOf: file).write(to: draft)
        try await protection.wipe(device.account.id)
        let after = await protection.telemetry.ledger()
        #expect(after.map(\.event.name).starts(with: before.map(\.event.name)))
        #expect(after.allSatisfy { $0.event.account == nil && $0.event.tenant == nil })
        for bytes in [try Data(contentsOf: file), try held.readToEnd() ?? Data()] {
            for name in [device.account.id.rawValue, device.account.tenant.rawValue] {
                #expect(bytes.range(of: Data(name.utf8)) == nil)
            }
        }
        #expect(device.files(in: "telemetry") == ["ledger.jsonl", "ledger.jsonl.lock"])
    }

    @Test func `a line of the ledger in any wrong form hides no other one, and keeps no name from being taken out`()
        async throws
    {
        let (device, protection) = try await worked()
        let file = device.folder.appending(path: "data/telemetry/ledger.jsonl")
        let ledger = try TelemetryLedger(protection.context)
        let entry = try #require(ledger.entries.last { $0.event.account == device.account.id })
        let line = try MessageCoding.encode(entry)
        let value = try JSONValue(parsing: line)
        let wrong = Place.all(in: value).flatMap { place in
            WrongForm.all.map { Data(place.text(of: value, as: $0).utf8) }
        }
        let bodies = WrongBody.allCases.map { $0.bytes(of: line) }
        try Data((wrong + bodies + [line]).joined(separator: Data("\n".utf8))).write(to: file)
        #expect(ledger.entries.last == entry && ledger.entries.count > 10)
        #expect(await protection.telemetry.ledger().count > 10)
        try ledger.forget(device.account.id)
        #expect(ledger.entries.last?.event.name == entry.event.name)
        #expect(try Data(contentsOf: file).range(of: Data(device.account.id.rawValue.utf8)) == nil)
    }

    @Test func `what could not be sent of an account that left goes out under no later registration`() async throws {
        let (device, protection) = try await worked()
        await device.service.set { $0.telemetryProblem = ProblemDetails(title: "busy", status: 503) }
        try await device.publish([:])
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        await protection.unenroll(device.account.id, wiping: false)
        await protection.performDueWork()
        await device.service.set { $0.telemetryProblem = nil }
        let before = await device.service.telemetry.count
        await protection.enroll(device.account)
        await protection.performDueWork()
        let events = try await device.service.telemetry.dropFirst(before)
            .flatMap { try MessageCoding.decode(TelemetryBatch.self, from: $0).events }
        #expect(events.count { $0.kind == .policyApplied } == 1)
    }

    @Test func `an exchange is told with the time that it took`() async throws {
        // SRV-CI-072
        let (device, clock) = (try Device(), ManualClock())
        await device.service.set { [now = clock.clock.now] in $0.time = now }
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.clock = clock.clock
            configuration.confirmEnrollment = { _ in
                clock.advance(.milliseconds(1_500))
                return true
            }
        }
        await protection.enroll(device.account)
        await protection.performDueWork()
        let events = try await device.service.telemetry.flatMap {
            try MessageCoding.decode(TelemetryBatch.self, from: $0).events
        }
        let enrollment = events.first { $0.kind == .enrollment && $0.words["operation"] == "enrollment" }
        #expect(enrollment?.amounts == ["status": 100, "milliseconds": 1_500])
    }

    @Test func `nothing sent holds a name, a content or a sign-in name`() async throws {
        // SRV-CI-075
        let (device, protection) = try await worked()
        let before = await device.service.telemetry.count
        #expect(before > 0)
        await device.service.set {
            $0.change = { $0.configurations = [.object(["planted-key": .string("planted-value")])] }
        }
        try await device.publish(["printBlocked": .bool(false)])
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        #expect(protection.rules.appConfiguration(of: device.account.id).string(for: "planted-key") == "planted-value")
        let sent = await device.service.telemetry
        #expect(sent.count > before, "also of the check-in that brought the configuration")
        for message in sent {
            let text = String(decoding: message, as: UTF8.self)
            for word in ["secret", "planted", "worker-a@contoso.example", "tag-1", "Test"] {
                #expect(!text.contains(word))
            }
        }
    }

    @Test(arguments: [
        ("Ubuntu 24.04", "Ubuntu_24.04"), ("26", "26"), ("18.2 Büro", "18.2_B_ro"),
        (String(repeating: "x", count: 100), String(repeating: "x", count: 64)),
    ])
    func `what the app says of its device is a word that the service takes, and so is all that goes out with it`(
        stated: String, told: String
    ) async throws {
        let (device, _) = try await worked { $0.device.osVersion = stated }
        let events = try await events(at: device.service)
        #expect(Set(events.map(\.kind)) == [.appLaunch, .enrollment, .policyApplied])
        #expect(events.allSatisfy { $0.fault == nil && $0.amounts["osVersion"] == nil })
        #expect(events.first { $0.kind == .appLaunch }?.words["osVersion"] == told)
    }

    @Test(arguments: [true, false])
    func `what cannot be noted in the ledger waits, and is sent once when it can be`(byApp: Bool) async throws {
        let sender = OwnSender()
        let (device, protection) = try await worked { if byApp { $0.telemetryDelegate = sender } }
        func sent() async throws -> Int {
            byApp ? await sender.events.count : try await events(at: device.service).count
        }
        let before = try await sent()
        let lock = device.folder.appending(path: "data/telemetry/ledger.jsonl.lock")
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        #expect(try await sent() == before)
        try FileManager.default.removeItem(at: lock)
        for _ in 0..<2 {
            await protection.performDueWork()
            #expect(try await sent() > before)
            #expect(try await sent() == protection.telemetry.ledger().count)
        }
    }

    @Test func `each of the three switches is enough`() async throws {
        let (bySettings, app) = try await worked { $0.telemetryEnabled = false }
        #expect(await bySettings.service.telemetry.isEmpty)
        #expect(await app.telemetry.ledger().isEmpty)

        let device = try Device()
        try await device.publish([:])
        let byPerson = try await device.start()
        try await byPerson.telemetry.setEnabled(false)
        await byPerson.enroll(device.account)
        let restarted = try await device.start()
        await restarted.performDueWork()
        #expect(await device.service.telemetry.isEmpty)
        #expect(!restarted.telemetry.isEnabled)

        let other = try Device()
        await other.service.set { $0.change = { $0.telemetryDisabled = true } }
        try await other.publish([:])
        let byOrganisation = try await other.start()
        await byOrganisation.enroll(other.account)
        await byOrganisation.performDueWork()
        #expect(await other.service.telemetry.isEmpty)
    }

    @Test func `an app that sends by itself leaves the service without any, and has a ledger too`() async throws {
        let sender = OwnSender()
        let (device, protection) = try await worked {
            $0.telemetryDelegate = sender
            $0.telemetryRegion = .europeanUnion
        }
        #expect(await device.service.telemetry.isEmpty)
        #expect(await sender.events.allSatisfy { $0.region == .europeanUnion })
        let enrollment = try #require(await sender.events.first { $0.name == .enrollment })
        #expect((enrollment.account, enrollment.tenant) == (device.account.id, device.account.tenant))
        #expect((enrollment.privacyLevel, enrollment.priority) == (.requiredDiagnostic, .normal))
        #expect(enrollment.dataTypes == [.performance, .connectivity] && !enrollment.properties.isEmpty)
        #expect(await sender.events.map(\.name).contains(.enrollment))
        #expect(await protection.telemetry.ledger().map(\.event) == sender.events)
        #expect(await protection.telemetry.ledger().allSatisfy { !$0.toService })
    }

    @Test func `fields that the app leaves out are not sent`() async throws {
        let (device, _) = try await worked { $0.unsentTelemetry = [.osVersion, .status] }
        let events = try await device.service.telemetry.flatMap {
            try MessageCoding.decode(TelemetryBatch.self, from: $0).events
        }
        #expect(!events.isEmpty)
        #expect(events.allSatisfy { $0.words["osVersion"] == nil && $0.amounts["status"] == nil })
    }

    @Test(arguments: [nil, ReportedEvent.Region.global, .europeanUnion])
    func `every event says where the app lets it be kept`(_ region: ReportedEvent.Region?) async throws {
        let (device, _) = try await worked { $0.telemetryRegion = region }
        let batches = await device.service.telemetry
        let events = try batches.flatMap { try MessageCoding.decode(TelemetryBatch.self, from: $0).events }
        #expect(!events.isEmpty && events.allSatisfy { $0.region == region ?? .global })
        let number = try JSONValue(parsing: try #require(batches.first))["events"]?.array?.first?["region"]
        #expect(number == .integer(region == .europeanUnion ? 1 : 0))
    }

    @Test func `what a launch condition did is told with its rule, and nothing of what it saw`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["minimumRequiredOsVersion": .string("9.0")])
        await house.goOffline()
        #expect(await protection.launch(house.account).result == .blocked)
        await house.goOnline()
        await protection.performDueWork()
        let told = try await house.device.service.telemetry
            .flatMap { try MessageCoding.decode(TelemetryBatch.self, from: $0).events }
            .filter { $0.kind == .launchOutcome }
        #expect(told.map(\.words) == [["rule": "launch.os-version", "action": "block"]])
        #expect(told.allSatisfy { $0.amounts.isEmpty && $0.data == .usage && $0.privacy == .requiredDiagnostic })
    }

    @Test(arguments: [403, 404])
    func `a service that takes none is no failure, and is not asked again`(status: Int) async throws {
        let (device, protection) = try await worked()
        let sent = await device.service.telemetry.count
        await device.service.set { $0.telemetryProblem = ProblemDetails(title: "none", status: status) }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        await protection.performDueWork()
        await device.service.set { $0.telemetryProblem = nil }
        await protection.performDueWork()
        #expect(await device.service.telemetry.count == sent)
    }

    @Test(arguments: [429, 500, 503])
    func `a service that is busy is told later`(status: Int) async throws {
        let (device, protection) = try await worked()
        let sent = await device.service.telemetry.count
        await device.service.set { $0.telemetryProblem = ProblemDetails(title: "later", status: status) }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        await protection.performDueWork()
        await device.service.set { $0.telemetryProblem = nil }
        await protection.performDueWork()
        #expect(await device.service.telemetry.count == sent + 1)
    }

    @Test func `an event whose sending fails twice is in the ledger once, from before the first attempt`() async throws
    {
        let (device, protection) = try await worked()
        let before = await protection.telemetry.ledger()
        let arrived = try await events(at: device.service)
        await device.service.set { $0.telemetryProblem = ProblemDetails(title: "later", status: 503) }
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        let tried = await protection.telemetry.ledger()
        #expect(tried.count > before.count && tried.starts(with: before))
        #expect(try await events(at: device.service) == arrived)
        // What has happened since goes out with what waits.
        await protection.checkIn(device.account.id)
        await device.service.set { $0.isUnreachable = true }
        await protection.performDueWork()
        await device.service.set { ($0.isUnreachable, $0.telemetryProblem) = (false, nil) }
        await protection.performDueWork()
        let ledger = await protection.telemetry.ledger()
        #expect(ledger.count > tried.count && ledger.starts(with: tried))
        #expect(try await events(at: device.service) == ledger.map(\.event.reported))
    }

    @Test func `what no token could be had for is not in the ledger before it is sent`() async throws {
        let (device, protection) = try await worked()
        let before = await protection.telemetry.ledger()
        await protection.checkIn(device.account.id)
        await device.sessions.set { $0.tokenFailure = HeldSessions.refusal }
        await protection.performDueWork()
        #expect(await protection.telemetry.ledger() == before)
        await device.sessions.set { $0.tokenFailure = nil }
        await protection.performDueWork()
        let ledger = await protection.telemetry.ledger()
        #expect(ledger.count > before.count)
        #expect(try await events(at: device.service) == ledger.map(\.event.reported))
    }

    @Test func `each account's events go out under its own name`() async throws {
        let device = try Device()
        let accounts = TwoAccounts(device)
        let protection = try await accounts.enrolled(
            on: device, ["printBlocked": .bool(true)], ["printBlocked": .bool(false)])
        await protection.performDueWork()
        for service in [accounts.first, accounts.second] {
            let events = try await service.telemetry.flatMap {
                try MessageCoding.decode(TelemetryBatch.self, from: $0).events
            }
            #expect(events.count { $0.kind == .policyApplied } == 1)
            #expect(events.count { $0.kind == .appLaunch } == (service === accounts.first ? 1 : 0))
        }
    }

    @Test(arguments: [true, false])
    func `how an account left is told to no other one's organisation`(wiping: Bool) async throws {
        let device = try Device()
        let accounts = TwoAccounts(device)
        let protection = try await accounts.enrolled(on: device, [:], [:])
        await protection.performDueWork()
        let before = try await events(at: accounts.first).count
        #expect(await protection.unenroll(accounts.second.account.id, wiping: wiping) == .unenrolled)
        await protection.performDueWork()
        #expect(try await events(at: accounts.first).count == before)
    }

    @Test func `how an account left is told to the app's own sender, without its name`() async throws {
        let sender = OwnSender()
        let (device, protection) = try await worked { $0.telemetryDelegate = sender }
        try await protection.wipe(device.account.id)
        await protection.performDueWork()
        let told = await sender.events.filter { $0.name == .wipePhase }
        #expect(told.map(\.properties) == [[.phase: "succeeded"]])
        #expect(told.allSatisfy { $0.account == nil && $0.tenant == nil })
    }

    @Test(arguments: [false, true])
    func `a launch tells whether the device's management is there besides`(isManaged: Bool) async throws {
        let (device, _) = try await worked { configuration in
            if isManaged { configuration.managedConfiguration = ["site": "north"] }
        }
        let launches = try await events(at: device.service).filter { $0.kind == .appLaunch }
        #expect(launches.map { $0.words["management"] } == ["unmanaged"])
        #expect(launches.map { $0.words["deviceManagement"] } == [isManaged ? "yes" : "no"])
    }

    @Test func `what a launch condition did is sent, by its rule and its action`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled(["appActionIfDeviceComplianceRequired": "block"]) {
            $0.settings.holdsSeveralIdentities = true
        }
        #expect(await protection.launch(house.account).result == .blocked)
        await protection.performDueWork()
        let told = try await events(at: house.device.service).filter { $0.kind == .launchOutcome }
        #expect(told.map { $0.words["rule"] } == [Rule.launchRooted.rawValue])
        #expect(told.map { $0.words["action"] } == ["block"])
    }

    @Test(arguments: [true, false])
    func `what was denied is told by action, verdict and rule, once, and only where the person agreed`(
        agreed: Bool
    ) async throws {
        let (device, protection) = try await worked { $0.sendsOptionalTelemetry = agreed }
        #expect(!device.mayPrint(protection))
        // Of an account that is not enrolled here, nothing is told.
        _ = protection.decision(for: Question(.print, owner: .managed("oid-stranger")))
        await protection.performDueWork()
        await protection.performDueWork()
        let told = try await events(at: device.service).filter { $0.kind == .sdkAction }
        let expected = ["action": "print", "verdict": "block", "rule": Rule.print.rawValue]
        #expect(told.map(\.words) == (agreed ? [expected] : []))
        #expect(told.allSatisfy { $0.privacy == .optional && $0.fault == nil })
    }

    @Test func `what was denied of an account that was wiped is not told`() async throws {
        let (device, protection) = try await worked { $0.sendsOptionalTelemetry = true }
        #expect(!device.mayPrint(protection))
        try await protection.wipe(device.account.id)
        await protection.enroll(device.account)
        await protection.performDueWork()
        #expect(try await events(at: device.service).allSatisfy { $0.kind != .sdkAction })
    }

    func events(at service: ScriptedService) async throws -> [ReportedEvent] {
        try await service.telemetry.flatMap { try MessageCoding.decode(TelemetryBatch.self, from: $0).events }
    }
}
