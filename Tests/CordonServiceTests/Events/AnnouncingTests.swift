import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// Changes are told behind themselves: to whom they concern, once, whatever happens meanwhile.
struct AnnouncingTests {
    /// Registrations of the test app for people of a group, as a store keeps them.
    private func enroll(_ people: Range<Int>, in test: TestOrganisation) async throws {
        let key = SoftwareSigningKey().publicKey
        let now = test.clock.now
        try await test.storage.write(TestOrganisation.tenant) { transaction in
            for number in people {
                let account = ManagedAccount(
                    id: AccountID("p-\(number)"), tenant: TestOrganisation.tenant,
                    userPrincipalName: "p\(number)@contoso.example")
                try transaction.save(
                    DirectoryUser(
                        id: account.id.rawValue, userPrincipalName: account.userPrincipalName, displayName: "P"))
                try transaction.save(
                    Registration(
                        id: "r-\(number)", account: account, key: key, source: .appRegistered, created: now,
                        application: .init(bundleID: TestOrganisation.app, version: "1", sdkVersion: "1"),
                        device: .init(tag: "t-\(number)", osVersion: "18", model: "m")))
            }
        }
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(
                id: "crowd", displayName: "Crowd", members: Set(people.map { DirectoryGroup.Member.user("p-\($0)") })),
            as: test.owner)
    }

    /// How often each registration was told.
    private func told(_ test: TestOrganisation) async throws -> [String: Int64] {
        try await test.storage.read(TestOrganisation.tenant) { records in
            try records.records(EventBookmark.self).reduce(into: [:]) { $0[$1.registrationID] = $1.lastID }
        }
    }

    @Test func `a change of a policy reads no registration, however many it reaches`() async throws {
        var costs: [CountingStorage.Counts] = []
        for number in [10, 300] {
            let storage = CountingStorage()
            let test = try await TestOrganisation.withPeople(storage: storage)
            try await enroll(0..<number, in: test)
            let policy = try await test.protect(to: .group("crowd"))
            try await test.finishAnnouncing()
            // What comes behind the change is not counted.
            storage.fail(afterChanges: 1)
            costs.append(
                try await storage.counts {
                    _ = try await test.service.administration.updatePolicy(
                        policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
                })
            storage.fail(afterChanges: nil)
            try await test.finishAnnouncing()
            #expect(try await told(test).values.allSatisfy { $0 == 2 })
            #expect(try await told(test).count == number)
        }
        #expect(costs[0].readInChanges == costs[1].readInChanges && costs[0].written == costs[1].written)
        #expect(costs[1].readInChanges[.registration] == nil && costs[1].readInChanges[.user] == nil)
        #expect(
            costs[1].written
                == [.policy: 1, .settings: 1, .announcement: 1, .version: 2, .versionDocument: 1])
    }

    @Test func `a process that is killed anywhere between telling the first and the last loses no word`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await enroll(0..<300, in: test)
        let policy = try await test.protect(to: .group("crowd"))
        try await test.finishAnnouncing()
        for changes in 1...7 {
            let before = try await told(test)
            storage.fail(afterChanges: changes)
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["minimumPinLength": .integer(Int64(4 + changes))], ifVersion: nil, as: test.owner)
            if changes < 7 {
                await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
            } else {
                try await test.finishAnnouncing()
            }
            storage.fail(afterChanges: nil)
            // Another process over the same store goes on where this one was.
            let next = try await TestOrganisation(storage: storage, keyStore: test.keyStore, clock: test.clock)
            try await next.finishAnnouncing()
            let after = try await told(test)
            #expect(after.count == 300)
            #expect(after.allSatisfy { id, number in number == before[id, default: 0] + 1 })
            let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(Announcement.self).count }
            #expect(left == 0)
        }
    }

    @Test func `what another service has told to its end meanwhile is not begun again`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await enroll(0..<300, in: test)
        let policy = try await test.protect(to: .group("crowd"))
        try await test.finishAnnouncing()
        for changes in 1...5 {
            let before = try await told(test)
            storage.fail(afterChanges: changes)
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["minimumPinLength": .integer(Int64(4 + changes))], ifVersion: nil, as: test.owner)
            await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
            storage.fail(afterChanges: nil)
            let other = try await TestOrganisation(storage: storage, keyStore: test.keyStore, clock: test.clock)
            storage.beforeNextChange {
                try await other.finishAnnouncing()
                storage.fail(afterChanges: 1)
            }
            await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
            storage.fail(afterChanges: nil)
            let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(Announcement.self).count }
            #expect(left == 0)
            #expect(try await told(test).allSatisfy { id, number in number == before[id, default: 0] + 1 })
        }
    }

    @Test func `where others wait for the store a change tells two apps, and each app hears once`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await enroll(0..<50, in: test)
        let policy = try await test.protect(to: .group("crowd"))
        try await test.finishAnnouncing()
        storage.beWaitedFor(true)
        storage.fail(afterChanges: 1)
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
        storage.fail(afterChanges: 3)
        await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
        storage.fail(afterChanges: nil)
        let few = try await told(test).values.count { $0 == 2 }
        #expect((1...6).contains(few), "three changes")
        try await test.finishAnnouncing()
        #expect(try await told(test).count == 50)
        #expect(try await told(test).values.allSatisfy { $0 == 2 })
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(Announcement.self).count }
        #expect(left == 0)
    }

    @Test func `a person who leaves the group before the change of its policy is told hears of it all the same`()
        async throws
    {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        let policy = try await test.protect(to: .group("writers"))
        var app = TestApp(test)
        try await app.register()
        try await test.finishAnnouncing()
        storage.fail(afterChanges: 1)
        _ = try await test.service.administration.assignPolicy(
            policy.id, to: [.init(.exclusionGroup("guests"))], as: test.owner)
        await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
        storage.fail(afterChanges: nil)
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "writers", displayName: "Writers"), as: test.owner)
        try await test.finishAnnouncing()
        #expect(try await told(test) == [app.registrationID: 1])
    }

    @Test func `settings, accounts and an emergency key reach every app without a row for each`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await enroll(0..<50, in: test)
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        try await test.finishAnnouncing()
        var events = try await test.service.devices.events(
            ofRegistration: app.registrationID, after: nil, by: app.caller
        ).makeAsyncIterator()
        let account = PolicyEnvelope.AllowedAccount(id: app.account.id, userPrincipalName: "ada@contoso.example")
        let changes: [() async throws -> Void] = [
            { try await test.service.administration.setAllowedAccounts([account], as: test.owner) },
            {
                var settings = try await test.service.administration.serviceSettings(as: test.owner)
                settings.keySetMaxAgeSeconds = 120
                try await test.service.administration.setServiceSettings(settings, as: test.owner)
            },
            {
                _ = try await test.service.administration.rotateSigningKey(
                    activeFrom: test.clock.now, as: test.owner)
            },
        ]
        for (number, change) in changes.enumerated() {
            let cost = try await storage.counts(during: change)
            #expect(cost.written[.registration] == nil && cost.written[.events] == nil)
            #expect(cost.read[.registration] == nil)
            #expect(await events.next() == ServiceEvent(id: Int64(number + 1), kind: .policyChanged))
            #expect(try await app.checkIn().response.envelope != nil, "change \(number)")
            #expect(try await app.checkIn().response.unchanged)
        }
        // An app that was away finds in the store what all were told.
        var later = try await test.service.devices.events(
            ofRegistration: app.registrationID, after: 1, by: app.caller
        ).makeAsyncIterator()
        #expect(await later.next() == ServiceEvent(id: 3, kind: .policyChanged))
        // And what is said to one goes on from there.
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        #expect(await later.next() == ServiceEvent(id: 4, kind: .commandWaiting))
        #expect(await events.next() == ServiceEvent(id: 4, kind: .commandWaiting))
    }

    @Test func `a change for one app does not wait until all were told of another`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await enroll(0..<900, in: test)
        let many = try await test.protect(to: .group("crowd"))
        let one = try await test.protect(to: .group("writers"))
        var app = TestApp(test)
        try await app.register()
        try await test.finishAnnouncing()
        for policy in [many, one] {
            storage.fail(afterChanges: 1)
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
            await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
            test.clock.advance(by: 1)
        }
        // As many transactions as the first page of those many takes, and one more.
        storage.fail(afterChanges: 4)
        await #expect(throws: ServiceError.self) { try await test.finishAnnouncing() }
        storage.fail(afterChanges: nil)
        let told = try await test.storage.read(TestOrganisation.tenant) { records in
            try records.records(EventBookmark.self).filter { $0.lastID > 0 }.map(\.registrationID)
        }
        #expect(told.contains(app.registrationID))
        try await test.finishAnnouncing()
        #expect(try await self.told(test).count == 901)
    }
}
