import CordonIdentity
import CordonProtocol
import Testing

@testable import CordonService

/// What was worked out for check-ins is remembered for as long as it may be asked for again, and no longer.
@Suite struct EnvelopeContentCacheTests {
    private func snapshot(of test: TestOrganisation) async throws -> TargetingSnapshot {
        let service = test.service
        return try await service.store.read(for: TestOrganisation.tenant) { records in
            try service.targeting.snapshot(of: TestOrganisation.tenant, in: records)
        }
    }

    @Test func `of an app that was wiped, or has left, nothing is kept`() async throws {
        let (test, enrolled) = try await TestApp.enrolled()
        var app = enrolled
        var other = TestApp(test, user: "ben", tag: "tag-2")
        try await other.register()
        try await app.checkIn()
        try await other.checkIn()
        #expect(try await snapshot(of: test).contents.count == 2)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        try await app.wipe()
        #expect(try await snapshot(of: test).contents.count == 1)
        try await test.service.devices.unregister(other.registrationID, by: other.caller)
        #expect(try await snapshot(of: test).contents.count == 0)
    }

    @Test func `what no app has asked for in two hours is forgotten, and what one asks for stays`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let (service, facts) = (test.service, FilterFacts(app.application, app.device))
        let (inputs, content) = try await service.store.read(for: TestOrganisation.tenant) { records in
            let user = try records.user("oid-ada")
            let inputs = EnvelopeInputs(
                user: user, groups: try records.directGroups(ofPerson: user.id), bundleID: TestOrganisation.app,
                facts: facts, settings: try records.settings(), extras: .none)
            let content = try EnvelopeContent(
                for: user, in: inputs.groups, bundleID: inputs.bundleID, facts: facts, tenant: TestOrganisation.tenant,
                snapshot: try service.targeting.snapshot(of: TestOrganisation.tenant, in: records),
                settings: inputs.settings)
            return (inputs, content)
        }
        let start = ContinuousClock.now
        let cache = EnvelopeContentCache(at: start)
        /// Whether it was worked out anew.
        func ask(_ registration: String, after hours: Int) -> Bool {
            var isMade = false
            _ = cache.content(of: registration, inputs, at: start + .seconds(3_600 * hours)) {
                isMade = true
                return content
            }
            return isMade
        }
        #expect(ask("used", after: 0) && ask("left", after: 0))
        for hour in 1...4 {
            #expect(ask("new-\(hour)", after: hour))
            #expect(!ask("used", after: hour))
        }
        #expect(cache.count == 3, "the one that is used, and those of this hour and the one before")
        #expect(ask("left", after: 4))
    }

    @Test func `apps of ever other names are not remembered for good`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        let snapshot = try await snapshot(of: test)
        let user = try await test.service.administration.user("oid-ada", as: test.owner)
        for number in 0..<10_000 {
            let intended = snapshot.intended(
                for: user, in: ["writers"], bundleID: "com.example.made-up-\(number)", facts: nil)
            #expect(intended.all.isEmpty)
        }
        #expect(snapshot.rememberedApps <= TargetingSnapshot.mostApps)
        let real = snapshot.intended(for: user, in: ["writers"], bundleID: TestOrganisation.app, facts: nil)
        #expect(real.all.count == 1)
    }
}
