import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// A store that was put back from a backup tells apps nothing until an administrator has looked at it.
struct RestorationTests {
    @Test func `apps of a restored store keep their rules until somebody confirms it`() async throws {
        var (test, app) = try await TestApp.enrolled()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        let restoration = StoreRestoration(made: test.clock.now, manifest: "ab", lost: ["user.block": 2])
        try await test.service.noteRestoration(restoration, of: TestOrganisation.tenant)
        try await test.service.noteRestoration(restoration, of: TestOrganisation.tenant)
        #expect(try await test.records().count { $0.action == "store.restored" } == 1)
        let waiting = app
        // Not even the wipe: it may have been cancelled since.
        #expect(
            await failure {
                var app = waiting
                try await app.checkIn()
            }?.status == .tenantMigration)
        let ben = TestApp(test, user: "ben", tag: "tag-2")
        #expect(
            await failure {
                var app = ben
                try await app.register()
            }?.status == .tenantMigration)
        #expect(try await test.service.administration.restoration(as: test.owner)?.lost == ["user.block": 2])
        let reader = test.administrator(.policyAdministrator)
        #expect(
            await failure { try await test.service.administration.confirmRestoration(as: reader) }?.code == .forbidden)
        try await test.service.administration.confirmRestoration(as: test.owner)
        #expect(
            await failure { try await test.service.administration.confirmRestoration(as: test.owner) }?.code
                == .conflict)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
        #expect(try await test.records().contains { $0.action == "store.confirm" })
    }
}
