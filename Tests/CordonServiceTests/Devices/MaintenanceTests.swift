import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// SRV-TG-28, SRV-CI-069: what has run out is put away, and nothing else.
struct MaintenanceTests {
    @Test func `finished wipes leave the list after four days and stay in the audit log`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let id = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        try await app.wipe()
        test.clock.advance(by: 3.9 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).map(\.id) == [id])
        test.clock.advance(by: 0.1 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).isEmpty)
        #expect(try await test.records().contains { $0.action == "wipe.succeeded" && $0.target == "operation/\(id)" })
    }

    @Test
    func `a clock that is ahead is doubted for a day, however often the service starts, and one that is right is not`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let day = 86_400.0
        func isDoubted() async throws -> Bool { try await test.service.clockJump(of: TestOrganisation.tenant) != nil }
        #expect(try await !isDoubted())
        test.clock.advance(by: 6 * day)
        #expect(try await !isDoubted())
        // A dead battery: some starts, each further ahead, and none for as long as a day.
        for jump in [200, 0.1, 0.1, 300] {
            test.clock.advance(by: jump * day)
            #expect(try await isDoubted())
        }
        test.clock.advance(by: -500.2 * day)
        #expect(try await !isDoubted())
        // The service was really away: a day later it believes that.
        test.clock.advance(by: 30 * day)
        for _ in 0..<23 {
            #expect(try await isDoubted())
            test.clock.advance(by: 3_600)
        }
        test.clock.advance(by: 2 * 3_600)
        #expect(try await !isDoubted())
        test.clock.advance(by: day)
        #expect(try await !isDoubted())
    }

    @Test func `a wipe that no app fetched is shown as expired`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let id = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        test.clock.advance(by: 94 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.service.administration.operation(id, as: test.owner).state == .expired)
    }

    @Test func `a silent registration expires and its open wipe waits for the app's next one`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        test.clock.advance(by: 10 * 86_400)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        test.clock.advance(by: 80 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(
            try await test.service.administration.registration(app.registrationID, as: test.owner).state == .expired)
        let outcome = try await app.register()
        #expect(outcome.isNew && outcome.result.statusCode == .wipeReceived)
    }

    @Test func `a registration that has ended is put away after ninety days, and one that a wipe is owed to is not`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var left = TestApp(test, user: "ada", tag: "left")
        var owed = TestApp(test, user: "ada", tag: "owed")
        var wiped = TestApp(test, user: "ben", tag: "wiped")
        try await left.register()
        try await owed.register()
        try await wiped.register()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "owed", as: test.owner)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ben", deviceTag: "wiped", as: test.owner)
        try await wiped.wipe()
        try await test.service.devices.unregister(left.registrationID, by: left.caller)
        let ids = [left, owed, wiped].map(\.registrationID)
        func kept() async throws -> Set<String> {
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
            return Set(
                try await test.service.administration.registrations(.init(includesClosed: true), as: test.owner).map(
                    \.id))
        }
        test.clock.advance(by: 89.9 * 86_400)
        #expect(try await kept() == Set(ids))
        test.clock.advance(by: 0.2 * 86_400)
        #expect(try await kept() == Set(ids.dropFirst()))
        test.clock.advance(by: 400 * 86_400)
        #expect(try await kept() == [owed.registrationID])
        // With a registration goes where its stream stood.
        let bookmarks = try await test.storage.read(TestOrganisation.tenant) { records in
            try records.records(EventBookmark.self).map(\.registrationID)
        }
        #expect(Set(bookmarks).isSubset(of: [owed.registrationID]))
        // The control: it still brings its wipe to the same app with a new key.
        owed.key = SoftwareSigningKey()
        #expect(try await owed.register().result.statusCode == .wipeReceived)
    }

    @Test func `registrations of one second that open wipes keep hold up none that was closed after them`() async throws
    {
        let storage = InMemoryStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        let (key, start) = (SoftwareSigningKey().publicKey, test.clock.now)
        let account = TestApp(test).account
        try await storage.write(TestOrganisation.tenant) { transaction in
            for number in 0...Upkeep.most + 1 {
                let isLast = number > Upkeep.most
                var registration = Registration(
                    id: "closed-\(number)", account: account, key: key, source: .appRegistered, created: start,
                    application: .init(bundleID: "com.example.old", version: "1", sdkVersion: "1"),
                    device: .init(tag: "t\(number)", osVersion: "18", model: "m"))
                registration.close(.expired, at: start.addingTimeInterval(isLast ? 86_400 : 0))
                try transaction.save(registration)
                guard !isLast else { continue }
                try transaction.save(
                    WipeOperation(
                        id: "wipe-\(number)", registrationID: registration.id, account: account.id,
                        bundleID: "com.example.old", reason: .device, requestedBy: "owner-1", requested: start,
                        notAfter: start.addingTimeInterval(369 * 86_400), version: "1"))
            }
        }
        test.clock.advance(by: 92 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        let kept = try await test.service.administration.registrations(.init(includesClosed: true), as: test.owner)
        #expect(Set(kept.map(\.id)) == Set((0...Upkeep.most).map { "closed-\($0)" }))
    }

    @Test func `maintenance reads what is due and nothing else, and does some at a time`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        try await test.finishAnnouncing()
        let (key, now) = (app.key.publicKey, test.clock.now)
        let account = app.account
        try await storage.write(TestOrganisation.tenant) { transaction in
            for number in 0..<250 {
                var registration = Registration(
                    id: "old-\(number)", account: account, key: key, source: .appRegistered, created: now,
                    application: .init(bundleID: "com.example.old", version: "1", sdkVersion: "1"),
                    device: .init(tag: "t", osVersion: "18", model: "m"))
                registration.lastSync = now.addingTimeInterval(-80 * 86_400)
                try transaction.save(registration)
            }
        }
        let nothing = try await storage.counts {
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
        }
        #expect(nothing.read[.registration] ?? 0 == 0 && nothing.written.isEmpty)
        test.clock.advance(by: 11 * 86_400)
        let due = try await storage.counts { try await test.service.performMaintenance(of: TestOrganisation.tenant) }
        #expect(due.written[.registration] == 250)
        #expect(due.mostReadInChange <= 200)
        #expect(
            try await test.service.administration.registrations(.init(), as: test.owner).map(\.id) == [
                app.registrationID
            ])
    }

    @Test func `maintenance that others wait for does a few at a time, and all in the end`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        let now = test.clock.now
        let (key, account) = (SoftwareSigningKey().publicKey, TestApp(test).account)
        try await storage.write(TestOrganisation.tenant) { transaction in
            for number in 0..<40 {
                var registration = Registration(
                    id: "old-\(number)", account: account, key: key, source: .appRegistered, created: now,
                    application: .init(bundleID: "com.example.old", version: "1", sdkVersion: "1"),
                    device: .init(tag: "t", osVersion: "18", model: "m"))
                registration.lastSync = now.addingTimeInterval(-100 * 86_400)
                try transaction.save(registration)
            }
        }
        storage.beWaitedFor(true)
        let due = try await storage.counts { try await test.service.performMaintenance(of: TestOrganisation.tenant) }
        storage.beWaitedFor(false)
        #expect(due.written[.registration] == 40)
        #expect(due.mostWrittenInChange[.registration] == 8)
    }

    @Test func `failed wipes are counted to the last, and none is read for it`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation(storage: storage)
        let now = test.clock.now
        try await storage.write(TestOrganisation.tenant) { records in
            for number in 0..<9 {
                var wipe = WipeOperation(
                    id: "wipe-\(number)", registrationID: "r", account: AccountID("oid-ada"), bundleID: "b",
                    reason: .device, requestedBy: "x", requested: now, notAfter: now, version: "1",
                    state: number.isMultiple(of: 2) ? .failed : number == 1 ? .expired : .succeeded)
                if number == 8 { wipe.successorID = "wipe-7" }
                try records.save(wipe)
            }
        }
        let counts = try await storage.counts {
            let workload = try await test.service.workload(of: TestOrganisation.tenant)
            let attention = try await test.service.administration.attention(as: test.owner)
            #expect(workload.failedWipes == 5 && attention.failedWipes == 5)
        }
        #expect(counts.read[.operation, default: 0] == 0)
    }
}
