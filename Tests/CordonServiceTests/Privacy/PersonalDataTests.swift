import CordonProtocol
import CordonService
import Foundation
import Testing

/// SRV-CI-095: what is kept about a person can be had, and removed.
struct PersonalDataTests {
    private func filled() async throws -> (TestService, TestApp) {
        let test = try await TestService.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let now = Int64(test.clock.now.timeIntervalSince1970)
        try await test.service.setWorkingTime(
            WorkingTimeReport(state: .clockedIn, asOf: now), ofUser: "oid-ada", as: test.owner)
        _ = try await test.service.acceptTelemetry(
            .init(events: [ReportedEvent(.appLaunch, privacy: .requiredService, data: .usage, time: now)]),
            by: app.caller)
        _ = try await test.service.requestLogs(ofRegistration: app.registrationID, as: test.owner)
        return (test, app)
    }

    @Test func `everything about a person is in the export`() async throws {
        let (test, app) = try await filled()
        let data = try await test.service.exportUser("OID-ADA", as: test.owner)
        #expect(data.user?.userPrincipalName == "ada@contoso.example")
        #expect(data.groups == ["writers"])
        #expect(data.registrations.map(\.id) == [app.registrationID])
        #expect(data.workingTime?.state == .clockedIn)
        #expect(data.telemetry.count == 1 && data.logs.count == 1)
        #expect(await failure { _ = try await test.service.exportUser("nobody", as: test.owner) }?.code == .notFound)
    }

    @Test func `nothing of an erased person is left but ids in the audit log`() async throws {
        let (test, app) = try await filled()
        try await test.service.eraseUser("oid-ada", as: test.owner)
        #expect(await failure { _ = try await test.service.exportUser("oid-ada", as: test.owner) }?.code == .notFound)
        #expect(try await test.service.registrations(.init(includesClosed: true), as: test.owner).isEmpty)
        #expect(try await test.service.logCollections(as: test.owner).isEmpty)
        #expect(try await test.service.group("writers", as: test.owner).members.isEmpty)
        let stale = app
        #expect(
            await failure {
                _ = try await test.service.events(ofRegistration: stale.registrationID, after: nil, by: stale.caller)
            }?.status == .registrationGone)
        let export = try await test.export().joined()
        #expect(export.contains("oid-ada"))
        // The control: the name would be found.
        #expect(!export.contains("ada@contoso.example") && !export.contains("ada@"))
        #expect(export.contains("user.erase"))
    }

    @Test func `data on a device goes before the data about it`() async throws {
        var (test, app) = try await filled()
        _ = try await test.service.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        #expect(await failure { try await test.service.eraseUser("oid-ada", as: test.owner) }?.code == .conflict)
        try await app.wipe()
        try await test.service.eraseUser("oid-ada", as: test.owner)
    }
}
