import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTestSupport
import Testing

@testable import CordonService

/// SRV-CI-023, 072…075: telemetry and privacy.
struct TelemetryTests {
    private func event(
        _ data: ReportedEvent.DataTypes = .usage, privacy: ReportedEvent.PrivacyLevel = .requiredService,
        words: [String: String] = [:]
    ) -> ReportedEvent {
        ReportedEvent(.appLaunch, privacy: privacy, data: data, time: 1_800_000_000, words: words)
    }

    @Test(arguments: [
        [ReportedEvent.DataTypes.browsing], [.typing], [.usage, .browsing], [.typing, .performance], [],
        [.init(rawValue: 64)],
    ])
    func `browsing history, typing and unknown events are refused, with the whole batch`(
        flags: [ReportedEvent.DataTypes]
    ) async throws {
        let (test, app) = try await TestApp.enrolled()
        let bad = event(flags.reduce(into: []) { $0.formUnion($1) })
        let error = await failure {
            _ = try await test.service.devices.acceptTelemetry(.init(events: [event(), bad]), by: app.caller)
        }
        #expect(error?.code == .invalid)
        #expect(error?.problems.map(\.member) == ["events[1]"])
        #expect(try await test.service.administration.telemetry(as: test.owner).isEmpty)
    }

    @Test(arguments: ["a sentence", "/var/mobile/file", "ada@contoso.example", "https://x", ""])
    func `there is no place for texts, paths and addresses`(word: String) async throws {
        let (test, app) = try await TestApp.enrolled()
        let bad = event(words: ["action": word])
        #expect(
            await failure { _ = try await test.service.devices.acceptTelemetry(.init(events: [bad]), by: app.caller) }?
                .code
                == .invalid)
    }

    @Test(arguments: [(TelemetryLevel.off, 0), (.required, 1), (.optional, 2)])
    func `the organisation's switch decides what is kept`(level: TelemetryLevel, kept: Int) async throws {
        let (test, app) = try await TestApp.enrolled()
        var settings = ServiceSettings.usual
        settings.telemetry = level
        try await test.service.administration.setServiceSettings(settings, as: test.owner)
        let batch = TelemetryBatch(events: [event(), event(privacy: .optional)])
        #expect(try await test.service.devices.acceptTelemetry(batch, by: app.caller) == kept)
    }

    @Test func `after thirty days only numbers are left`() async throws {
        let (test, app) = try await TestApp.enrolled()
        _ = try await test.service.devices.acceptTelemetry(.init(events: [event(), event()]), by: app.caller)
        let before = try await test.service.administration.telemetry(as: test.owner)
        #expect(before.map(\.counts) == [["appLaunch": 2]])
        #expect(
            try await test.service.administration.personalData.exportUser("oid-ada", as: test.owner).telemetry.count
                == 1)
        test.clock.advance(by: 30 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.service.administration.telemetry(as: test.owner) == before)
        #expect(
            try await test.service.administration.personalData.exportUser("oid-ada", as: test.owner).telemetry.isEmpty)
    }

    @Test func `a key without registration sends nothing, and neither does a batch that is too large`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let stranger = TestApp(test)
        #expect(
            await failure {
                _ = try await test.service.devices.acceptTelemetry(.init(events: []), by: stranger.caller)
            }?.status
                == .notEnrolled)
        let many = TelemetryBatch(events: Array(repeating: event(), count: TelemetryBatch.mostEvents + 1))
        #expect(
            await failure { _ = try await test.service.devices.acceptTelemetry(many, by: app.caller) }?.code == .invalid
        )
    }

    @Test func `the flags and levels travel as the documented numbers`() throws {
        let bytes = try MessageCoding.encode(event([.usage, .inventory], privacy: .requiredDiagnostic))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#""data":9"#) && text.contains(#""privacy":2"#) && text.contains(#""priority":2"#))
    }

    @Test func `of one person and app a day's events are bounded, and the next day begins anew`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let batch = TelemetryBatch(events: Array(repeating: event(), count: 400))
        var kept: [Int] = []
        for _ in 0..<4 { kept.append(try await test.service.devices.acceptTelemetry(batch, by: app.caller)) }
        #expect(kept == [400, 400, 200, 0])
        #expect(try await test.service.administration.telemetry(as: test.owner).map(\.counts) == [["appLaunch": 1_000]])
        test.clock.advance(by: 1 * 86_400)
        #expect(try await test.service.devices.acceptTelemetry(batch, by: app.caller) == 400)
        #expect(
            try await test.service.administration.personalData.exportUser("oid-ada", as: test.owner).telemetry.map(
                \.events.count)
                == [1_000, 400])
    }

    @Test func `neither the report nor maintenance with nothing due reads an event`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        for _ in 0..<3 {
            _ = try await test.service.devices.acceptTelemetry(.init(events: [event()]), by: app.caller)
            test.clock.advance(by: 1 * 86_400)
        }
        func read(_ body: () async throws -> Void) async throws -> Int? {
            try await storage.counts(during: body).read[.telemetry]
        }
        func maintain() async throws { try await test.service.performMaintenance(of: TestOrganisation.tenant) }
        let nothing = try await read {
            try await maintain()
            #expect(try await test.service.administration.telemetry(as: test.owner).count == 3)
        }
        #expect(nothing ?? 0 == 0)
        test.clock.advance(by: 27 * 86_400)
        // The control: what is due is removed, unread, and no more.
        let due = try await storage.counts(during: maintain)
        #expect(due.written[.telemetry] == 1 && due.read[.telemetry] ?? 0 == 0)
        #expect(try await storage.counts(during: maintain).written[.telemetry] ?? 0 == 0)
        #expect(
            try await test.service.administration.personalData.exportUser("oid-ada", as: test.owner).telemetry.count
                == 2)
    }

    @Test func `the events of a day that many people used are removed some at a time`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        let day = TelemetryDay.name(of: test.clock.now)
        let now = test.clock.now
        try await storage.write(TestOrganisation.tenant) { transaction in
            try transaction.save(TelemetryDay(day: day))
            for number in 0..<250 {
                try transaction.save(
                    TelemetryRecord(day: day, received: now, userID: "oid-ada", bundleID: "com.example.app\(number)"))
            }
        }
        test.clock.advance(by: 31 * 86_400)
        let due = try await storage.counts {
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
        }
        #expect(due.written[.telemetry] == 250)
        #expect(due.mostWrittenInChange[.telemetry] == 100)
    }
}
