import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Testing

/// SRV-TG-28, SRV-CI-069: what has run out is put away, and nothing else.
struct MaintenanceTests {
    @Test func `finished wipes leave the list after four days and stay in the audit log`() async throws {
        let test = try await TestService.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let id = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        try await app.wipe()
        test.clock.advance(by: 3.9 * 86_400)
        try await test.service.performMaintenance(of: TestService.tenant)
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).map(\.id) == [id])
        test.clock.advance(by: 0.1 * 86_400)
        try await test.service.performMaintenance(of: TestService.tenant)
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).isEmpty)
        #expect(try await test.records().contains { $0.action == "wipe.succeeded" && $0.target == "operation/\(id)" })
    }

    @Test func `a wipe that nobody fetched is shown as expired`() async throws {
        let test = try await TestService.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let id = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        test.clock.advance(by: 94 * 86_400)
        try await test.service.performMaintenance(of: TestService.tenant)
        #expect(try await test.service.administration.operation(id, as: test.owner).state == .expired)
    }

    @Test func `a silent registration expires and its open wipe waits for the app's next one`() async throws {
        let test = try await TestService.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        test.clock.advance(by: 10 * 86_400)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        test.clock.advance(by: 80 * 86_400)
        try await test.service.performMaintenance(of: TestService.tenant)
        #expect(
            try await test.service.administration.registration(app.registrationID, as: test.owner).state == .expired)
        let outcome = try await app.register()
        #expect(outcome.isNew && outcome.result.statusCode == .wipeReceived)
    }
}
