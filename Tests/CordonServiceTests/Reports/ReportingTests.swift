import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-TG-37, 38, 39, 42: what administrators are told of all apps together.
struct ReportingTests {
    private func confirmed(_ test: TestOrganisation, user: String = "ada", tag: String = "tag-1") async throws
        -> TestApp
    {
        var app = TestApp(test, user: user, tag: tag)
        try await app.register()
        try await app.checkIn()
        return app
    }

    @Test func `an app drifts from the change of its rules until it says that it has the new ones`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        // What was handed out is not in force before the app says so.
        #expect(
            try await test.service.administration.drift(as: test.owner).map(\.registrationID) == [app.registrationID])
        try await app.checkIn()
        #expect(try await test.service.administration.drift(as: test.owner).isEmpty)
        test.clock.advance(by: 10 * 86_400)
        let changed = try await test.service.administration.updatePolicy(
            policy.id, changes: ["saveAsBlocked": true], ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        let since = test.clock.now
        test.clock.advance(by: 1 * 86_400)
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        test.clock.advance(by: 0.5 * 86_400)
        let drifted = try #require(try await test.service.administration.drift(as: test.owner).first)
        #expect(drifted.since == since && drifted.hours == 36 && drifted.isOverdue)
        #expect(drifted.applied.first?.version != changed.version)
        #expect(try await test.service.administration.drift(ofUser: "OID-ADA", as: test.owner) == [drifted])
        #expect(try await test.service.administration.drift(ofUser: "oid-bob", as: test.owner).isEmpty)
        #expect(drifted.intended.map(\.id) == drifted.applied.map(\.id) && drifted.userID == "oid-ada")
        try await app.checkIn()
        // Handed out, and not yet confirmed: the time goes on.
        #expect(try await test.service.administration.drift(as: test.owner).first?.since == since)
        try await app.checkIn()
        #expect(try await test.service.administration.drift(as: test.owner).isEmpty)
        test.clock.advance(by: 3 * 86_400)
        try await test.service.administration.deletePolicy(policy.id, ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        let after = try await test.service.administration.drift(as: test.owner)
        #expect(after.map(\.since) == [test.clock.now] && after.first?.intended == [] && after.first?.hours == 0)
    }

    @Test func `a change that is taken back leaves no drift, nor does a person leaving a group twice`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        let app = try await confirmed(test)
        let writers = try await test.service.administration.group("writers", as: test.owner)
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "writers", displayName: "Writers"), as: test.owner)
        let left = try await test.service.administration.drift(as: test.owner)
        #expect(left.map(\.registrationID) == [app.registrationID] && left.first?.intended == [])
        #expect(left.first?.isOverdue == false)
        test.clock.advance(by: 2 * 86_400)
        try await test.service.provisioning.saveGroup(writers, as: test.owner)
        #expect(try await test.service.administration.drift(as: test.owner).isEmpty)
    }

    @Test func `a reader of some policies alone is told of the drift of those`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        _ = try await confirmed(test)
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["saveAsBlocked": true], ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        let role = CustomRole(
            id: "north", displayName: "North", permissions: [.read], members: ["north"], scopeTags: ["north"])
        let stranger = Administrator(
            tenant: TestOrganisation.tenant, id: "n", name: "N", roles: [], customRoles: [role])
        #expect(try await test.service.administration.drift(as: test.owner).count == 1)
        #expect(try await test.service.administration.drift(as: stranger).isEmpty)
    }

    @Test func `the figures count assigned people once each, and apps by people`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        _ = try await confirmed(test)
        _ = try await confirmed(test, tag: "tag-2")
        try await test.service.provisioning.saveUser(
            DirectoryUser(id: "oid-cy", userPrincipalName: "cy@contoso.example", displayName: "Cy"), as: test.owner)
        var staff = try await test.service.administration.group("staff", as: test.owner)
        staff.members.insert(.user("oid-cy"))
        try await test.service.provisioning.saveGroup(staff, as: test.owner)
        var ben = try await test.service.administration.user("oid-ben", as: test.owner)
        ben.isLicensed = false
        try await test.service.provisioning.saveUser(ben, as: test.owner)
        let summary = try await test.service.administration.protectionSummary(as: test.owner)
        #expect(summary.assignedUsers.total == 3)
        #expect(summary.assignedUsers.protected == 1 && summary.assignedUsers.unprotected == 2)
        #expect(summary.assignedUsers.licensed == 2 && summary.assignedUsers.unlicensed == 1)
        #expect(summary.usersByStatus.checkedIn == 1 && summary.usersByStatus.notCheckedIn == 2)
        #expect(summary.flaggedUsers == 0)
        #expect(summary.topProtectedApps.map(\.bundleID) == [TestOrganisation.app])
        #expect(summary.topProtectedApps.map(\.users) == [1], "two devices of one person")
        #expect(summary.topConfiguredApps.isEmpty)
        try await test.service.administration.blockUser("oid-cy", as: test.owner)
        #expect(try await test.service.administration.protectionSummary(as: test.owner).usersByStatus.blocked == 1)
    }

    @Test func `a flagged app keeps the time of what was found until a clean check`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = try await confirmed(test)
        #expect(try await test.service.administration.flaggedApps(as: test.owner).isEmpty)
        test.clock.advance(by: 600)
        let since = test.clock.now
        try await app.checkIn(health: [.rootedDevice])
        test.clock.advance(by: 1 * 86_400)
        try await app.checkIn(health: [.rootedDevice])
        let flagged = try #require(try await test.service.administration.flaggedApps(as: test.owner).first)
        #expect(flagged.reasons == ["rootedDevice"] && flagged.since == since && flagged.platform == "iOS")
        #expect(
            flagged.displayName == "Ada" && flagged.deviceTag == "tag-1" && flagged.bundleID == TestOrganisation.app)
        #expect(try await test.service.administration.protectionSummary(as: test.owner).flaggedUsers == 1)
        try await app.checkIn()
        #expect(try await test.service.administration.flaggedApps(as: test.owner).isEmpty)
        test.clock.advance(by: 1 * 86_400)
        try await app.checkIn(health: [.rootedDevice])
        #expect(try await test.service.administration.flaggedApps(as: test.owner).first?.since == test.clock.now)
    }

    @Test func `the reports of apps come in pages that name each app once`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var ids: Set<String> = []
        for number in 1...7 {
            var app = TestApp(test, user: number.isMultiple(of: 2) ? "ada" : "ben", tag: "tag-\(number)")
            try await app.register()
            try await app.checkIn(health: [.rootedDevice])
            ids.insert(app.registrationID)
            // Some were flagged at the same moment, so that a page ends among them.
            if number.isMultiple(of: 3) { test.clock.advance(by: 1) }
        }
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["saveAsBlocked": true], ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        let reports = test.service.administration
        func pages<Row>(
            _ read: (_ after: String?) async throws -> (page: [Row], next: String?)
        ) async throws -> [[Row]] {
            var (pages, place): ([[Row]], String?) = ([], nil)
            repeat {
                let (page, next) = try await read(place)
                pages.append(page)
                place = next
            } while place != nil && pages.count < 10
            return pages
        }
        let flagged = try await pages { try await reports.flaggedApps(after: $0, limit: 2, as: test.owner) }
        #expect(flagged.map(\.count) == [2, 2, 2, 1] && Set(flagged.joined().map(\.registrationID)) == ids)
        #expect(flagged.joined().map(\.since) == flagged.joined().map(\.since).sorted())
        let drifted = try await pages { try await reports.drift(after: $0, limit: 3, as: test.owner) }
        #expect(drifted.map(\.count) == [3, 3, 1] && Set(drifted.joined().map(\.registrationID)) == ids)
        test.clock.advance(by: 80 * 86_400)
        let expiring = try await pages { try await reports.expiringApps(after: $0, limit: 2, as: test.owner) }
        #expect(expiring.map(\.count) == [2, 2, 2, 1] && Set(expiring.joined().map(\.registrationID)) == ids)
        for place in ["", "x", "zzz/1", "\u{10FFFF}/x"] {
            let error = await #expect(throws: ServiceError.self, "\(place)") {
                try await reports.expiringApps(after: place, as: test.owner)
            }
            #expect(error?.code == .invalid)
        }
    }

    @Test func `an app has checked in once the rules assigned in it were in force, and one without is unprotected`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        try await test.protect(name: "Mail", app: "com.example.mail", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        #expect(
            try await test.service.administration.appStatuses(ofUser: "oid-ada", as: test.owner).map(\.checkIn) == [
                .notCheckedIn, .notCheckedIn,
            ])
        try await app.checkIn()
        let statuses = try await test.service.administration.appStatuses(ofUser: "ada@contoso.example", as: test.owner)
        #expect(statuses.map(\.bundleID) == ["com.example.mail", TestOrganisation.app])
        #expect(statuses.map(\.checkIn) == [.notCheckedIn, .checkedIn])
        #expect(statuses.map(\.protection) == [.unprotected, .protected])
        // The app stays enrolled and loses its protection.
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "writers", displayName: "Writers"), as: test.owner)
        try await app.checkIn()
        try await app.checkIn()
        let left = try await test.service.administration.appStatuses(ofUser: "oid-ada", as: test.owner)
        #expect(left.map(\.bundleID) == [TestOrganisation.app])
        #expect(left.map(\.checkIn) == [.notAssigned] && left.map(\.protection) == [.unprotected])
    }

    @Test func `what an operator has to look at is what the reports list, as numbers`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = try await confirmed(test)
        try await app.checkIn()
        var other = try await confirmed(test, user: "ben", tag: "tag-2")
        try await other.checkIn(health: [.rootedDevice])
        func attention() async throws -> AttentionReport {
            try await test.service.administration.attention(as: test.administrator(.reader))
        }
        #expect(try await attention().flaggedApps == 1)
        #expect(try await attention().overdueApps == 0)
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["saveAsBlocked": true], ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        test.clock.advance(by: 86_400)
        #expect(try await attention().overdueApps == 0)
        test.clock.advance(by: 1)
        let late = try await test.service.administration.drift(as: test.owner).count(where: \.isOverdue)
        #expect(try await attention().overdueApps == late && late == 2)
        try await test.service.administration.blockUser("oid-ben", as: test.owner)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        let busy = try await attention()
        #expect(busy.blockedPeople == 1 && busy.openWipes == 2 && busy.failedWipes == 0)
        let underWay = try await test.service.workload(of: TestOrganisation.tenant)
        #expect(underWay.openWipes == 2 && underWay.failedWipes == 0 && underWay.registrations == late)
        // No app fetches them.
        test.clock.advance(by: 95 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        let lapsed = try await attention()
        #expect(lapsed.openWipes == 0 && lapsed.failedWipes == 2)
        let workload = try await test.service.workload(of: TestOrganisation.tenant)
        #expect(workload.openWipes == 0 && workload.failedWipes == 2)
    }

    @Test func `what is under way for a person is read at once, and only while it is`() async throws {
        // SRV-TG-40
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = try await confirmed(test)
        let other = try await confirmed(test, tag: "tag-2")
        _ = try await confirmed(test, user: "ben", tag: "tag-3")
        test.clock.advance(by: 1)
        _ = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: other.registrationID, as: test.owner)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ben", deviceTag: "tag-3", as: test.owner)
        let reader = test.administrator(.reader)
        let work = try await test.service.administration.pendingWork(ofUser: "ada@contoso.example", as: reader)
        #expect(work.wipes.map(\.registrationID) == [app.registrationID])
        #expect(work.commands.map(\.registrationID) == [other.registrationID])
        try await app.wipe()
        #expect(try await test.service.administration.pendingWork(ofUser: "oid-ada", as: reader).wipes.isEmpty)
    }
}
