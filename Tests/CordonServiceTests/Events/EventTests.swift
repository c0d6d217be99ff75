import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Testing

/// The event stream: who is told of what, and what comes after a break (SRV-TG-10, issue's live channel).
struct EventTests {
    private func stream(_ app: TestApp, after id: Int64? = nil) async throws -> EventSubscription.AsyncIterator {
        try await app.test.service.devices.events(ofRegistration: app.registrationID, after: id, by: app.caller)
            .makeAsyncIterator()
    }

    @Test func `a connected app hears of a policy change and of a wipe, with rising ids`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        var events = try await stream(app)
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        let first = await events.next()
        #expect(first?.kind == .policyChanged)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        let second = await events.next()
        #expect(second?.kind == .commandWaiting)
        #expect((first?.id ?? 0) < (second?.id ?? 0))
    }

    @Test func `an app that opens one stream after the other keeps the newest few`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        var oldest = try await stream(app)
        var open: [EventSubscription.AsyncIterator] = []
        for _ in 0..<4 { open.append(try await stream(app)) }
        #expect(await oldest.next() == nil)
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        for index in open.indices { #expect(await open[index].next()?.kind == .policyChanged) }
    }

    @Test func `who asks for the events of another's app ends none of its streams`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let id = app.registrationID
        var open: [EventSubscription.AsyncIterator] = []
        for _ in 0..<4 { open.append(try await stream(app)) }
        let stranger = TestApp(test, user: "ben", tag: "tag-2").caller
        for _ in 0..<8 {
            await #expect(throws: ServiceError(.wrongKey, "")) {
                _ = try await test.service.devices.events(ofRegistration: id, after: nil, by: stranger)
            }
        }
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        for index in open.indices { #expect(await open[index].next()?.kind == .policyChanged) }
    }

    @Test func `a change is told to those it reaches before or after, and to no others`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("writers"))
        try await test.protect(to: .group("staff"))
        var ada = TestApp(test, user: "ada")
        var ben = TestApp(test, user: "ben")
        try await ada.register()
        try await ben.register()
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        #expect(try await missed(ada).map(\.id) == [1])
        #expect(try await missed(ben).isEmpty)
        _ = try await test.service.administration.assignPolicy(
            policy.id, to: [.init(.exclusionGroup("writers"))], as: test.owner)
        #expect(try await missed(ada).map(\.id) == [2])
        #expect(try await missed(ben).isEmpty)
        // Ben comes into the group, so that the policy reaches him now.
        _ = try await test.service.administration.assignPolicy(
            policy.id, to: [.init(.group("writers"))], as: test.owner)
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "writers", displayName: "W", members: [.user("oid-ada"), .user("oid-ben")]),
            as: test.owner)
        #expect(try await missed(ada).map(\.id) == [3])
        #expect(try await missed(ben).map(\.id) == [1])
    }

    @Test func `a write that changes nothing for an app is not told`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await test.protect(app: "com.example.other", to: .group("staff"))
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "guests", displayName: "Guests", members: [.user("oid-ada")]), as: test.owner)
        #expect(try await missed(app).isEmpty)
    }

    @Test func `what was missed comes first after a break, also from a service that was started anew`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        for length in 5...8 {
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["minimumPinLength": .integer(Int64(length))], ifVersion: nil, as: test.owner)
            try await test.finishAnnouncing()
        }
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        let restarted = try await TestOrganisation(storage: test.storage, keyStore: test.keyStore, clock: test.clock)
        var events = try await restarted.service.devices.events(
            ofRegistration: app.registrationID, after: 2, by: app.caller
        ).makeAsyncIterator()
        #expect(await events.next() == ServiceEvent(id: 4, kind: .policyChanged))
        #expect(await events.next() == ServiceEvent(id: 5, kind: .commandWaiting))
        _ = try await restarted.service.administration.updatePolicy(
            policy.id, changes: ["minimumPinLength": 9], ifVersion: nil, as: test.owner)
        #expect(await events.next() == ServiceEvent(id: 6, kind: .policyChanged))
    }

    @Test func `an id from the future means that everything may have been missed`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        var events = try await stream(app, after: 99)
        #expect(await events.next()?.id == 1)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        #expect(await events.next()?.id == 2)
    }

    @Test func `the stream ends with the registration`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        var events = try await stream(app)
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        #expect(await events.next() == nil)
    }

    @Test func `only the registration's own key may listen`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        var thief = app
        thief.key = SoftwareSigningKey()
        #expect(await failure { _ = try await stream(thief) }?.code == .wrongKey)
    }

    /// The events of the registration since the last one told, read from the store.
    private func missed(_ app: TestApp) async throws -> [ServiceEvent] {
        let id = app.registrationID
        try await app.test.finishAnnouncing()
        return try await app.test.storage.write(TestOrganisation.tenant) { transaction in
            guard let bookmark = try transaction.record(EventBookmark.self, id) else { return [] }
            let told = try transaction.record(GroupEntry.self, "told-\(id)")
            let after = told.flatMap { Int64($0.displayName) } ?? 0
            try transaction.save(GroupEntry(id: "told-\(id)", displayName: String(bookmark.lastID)))
            return bookmark.events(after: after)
        }
    }
}
