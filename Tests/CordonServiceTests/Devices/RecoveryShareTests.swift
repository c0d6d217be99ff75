import CordonBase
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// What an app leaves for a person who forgets the PIN: who gets it, when, and until when it is kept.
struct RecoveryShareTests {
    private static let share = RecoveryShare(sealed: Base64URL.encode(Data(repeating: 7, count: 60)))

    private func kept() async throws -> (TestOrganisation, TestApp) {
        var (test, app) = try await TestApp.enrolled()
        app.authenticated = test.clock.now
        try await test.service.devices.keepRecoveryShare(Self.share, registration: app.registrationID, by: app.caller)
        return (test, app)
    }

    private func release(_ test: TestOrganisation, _ app: TestApp) async throws -> RecoveryShare {
        try await test.service.devices.releaseRecoveryShare(ofRegistration: app.registrationID, by: app.caller)
    }

    @Test func `a share is given out after a fresh sign-in alone, and each time stands in the log`() async throws {
        var (test, app) = try await kept()
        #expect(try await release(test, app) == Self.share)
        test.clock.advance(.seconds(300))
        #expect(try await release(test, app) == Self.share)
        test.clock.advance(.seconds(1))
        var actions = try await test.records().map(\.action)
        #expect(actions.suffix(3) == ["recoveryShare.keep", "recoveryShare.release", "recoveryShare.release"])
        let stale = app
        #expect(await failure { _ = try await release(test, stale) }?.code == .staleSignIn)
        app.authenticated = nil
        let unknown = app
        #expect(await failure { _ = try await release(test, unknown) }?.code == .staleSignIn)
        actions = try await test.records().map { "\($0.action) \($0.target)" }
        #expect(actions.suffix(2) == Array(repeating: "call.refused call/releaseRecoveryShare", count: 2))
        let export = try await test.export().joined()
        #expect(!export.contains(Self.share.sealed))
    }

    @Test func `shares that an app leaves, and its evidence, take a day's share of the audit log, and no more`()
        async throws
    {
        let (test, app) = try await kept()
        let id = app.registrationID
        func keep(_ number: Int) async throws {
            let bytes = Data(repeating: UInt8(truncatingIfNeeded: number), count: 60)
            try await test.service.devices.keepRecoveryShare(
                RecoveryShare(sealed: Base64URL.encode(bytes)), registration: id, by: app.caller)
        }
        func written() async throws -> [AuditRecord] {
            try await test.records().filter { $0.actor.id == id }
                .filter { ["recoveryShare", "registration"].contains($0.action.prefix { $0 != "." }) }
                .filter { $0.action != "registration.create" }
        }
        for number in 0..<300 { try await keep(number) }
        #expect(try await written().count == 256)
        try await test.service.devices.forgetRecoveryShare(ofRegistration: id, by: app.caller)
        let evidence = VerifiedEvidence(
            app: "9XK3M7QW2P.org.example.notes", environment: "production", keyID: Data(count: 32),
            publicKey: Data(count: 65), counter: 0, verified: test.clock.now)
        try await test.service.devices.keepEvidence(evidence, ofRegistration: id, by: app.caller)
        try await test.service.devices.noteRefusedEvidence(ofRegistration: id, by: app.caller)
        #expect(try await written().count == 256)
        let known = try await test.service.administration.registration(id, as: test.owner)
        #expect(known.evidence?.refused != nil, "what is not written down counts all the same")
        test.clock.advance(.seconds(86_400))
        try await keep(0)
        let next = try await written()
        // 45 shares, one forgotten, and evidence twice.
        #expect(next.count == 257 && next.last?.details["leftOut"] == "48")
    }

    @Test func `a share is given out five times a day, and again a day later`() async throws {
        var (test, app) = try await kept()
        for _ in 0..<5 { _ = try await release(test, app) }
        let fresh = app
        let refusal = await failure { _ = try await release(test, fresh) }
        #expect(refusal?.code == .tooManyRequests && refusal?.retryAfterSeconds == 86_400)
        // Another share has the same day.
        try await test.service.devices.keepRecoveryShare(
            RecoveryShare(sealed: Base64URL.encode(Data(repeating: 8, count: 60))), registration: app.registrationID,
            by: app.caller)
        #expect(await failure { _ = try await release(test, fresh) }?.code == .tooManyRequests)
        test.clock.advance(.seconds(86_400))
        app.authenticated = test.clock.now
        _ = try await release(test, app)
    }

    @Test func `a share that was given out while the clock was ahead is given out once the clock is right`()
        async throws
    {
        var (test, app) = try await kept()
        test.clock.advance(by: 10 * 86_400)
        app.authenticated = test.clock.now
        for _ in 0..<5 { _ = try await release(test, app) }
        test.clock.advance(by: -10 * 86_400)
        app.authenticated = test.clock.now
        for _ in 0..<5 { #expect(try await release(test, app) == Self.share) }
        let again = app
        #expect(await failure { _ = try await release(test, again) }?.code == .tooManyRequests)
    }

    @Test func `a person whose sign-ins cannot be told to be fresh leaves no share, and no app leaves anything else`()
        async throws
    {
        var (test, app) = try await TestApp.enrolled()
        let unknown = app
        #expect(
            await failure {
                try await test.service.devices.keepRecoveryShare(
                    Self.share, registration: unknown.registrationID, by: unknown.caller)
            }?.status == .authenticationRequired)
        app.authenticated = test.clock.now
        let known = app
        for text in ["", "not base64url!", Base64URL.encode(Data(count: 31)), Base64URL.encode(Data(count: 257))] {
            #expect(
                await failure {
                    try await test.service.devices.keepRecoveryShare(
                        RecoveryShare(sealed: text), registration: known.registrationID, by: known.caller)
                }?.code == .invalid)
        }
        #expect(await failure { _ = try await release(test, known) }?.code == .notFound)
    }

    @Test func `another key, another person and another registration get nothing`() async throws {
        let (test, app) = try await kept()
        var thief = app
        thief.key = SoftwareSigningKey()
        let withOtherKey = thief
        #expect(await failure { _ = try await release(test, withOtherKey) }?.code == .wrongKey)
        var other = TestApp(test, user: "ben", tag: "tag-2")
        try await test.protect(to: .allLicensedUsers)
        try await other.register()
        other.authenticated = test.clock.now
        other.registrationID = app.registrationID
        let ben = other
        #expect(await failure { _ = try await release(test, ben) }?.code == .wrongKey)
    }

    @Test func `while the data is to be removed, and once it is, no app gets the share`() async throws {
        var (test, app) = try await kept()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        let waiting = app
        #expect(await failure { _ = try await release(test, waiting) }?.code == .conflict)
        try await app.wipe()
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(RecoveryShareRecord.self) }
        #expect(left.isEmpty)
    }

    @Test func `an app that registers again keeps what it left, and a forgotten one does not`() async throws {
        var (test, app) = try await kept()
        app.key = SoftwareSigningKey()
        try await app.register()
        #expect(try await release(test, app) == Self.share)
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(RecoveryShareRecord.self) }
        #expect(left.isEmpty)
    }

    @Test func `after an unenrolment without a wipe the next registration, also of a new key and tag, has the share`()
        async throws
    {
        var (test, app) = try await kept()
        let former = app.registrationID
        try await test.service.devices.unregister(former, by: app.caller)
        (app.key, app.tag) = (SoftwareSigningKey(), "tag-2")
        try await app.register(after: former)
        #expect(app.registrationID != former)
        #expect(try await release(test, app) == Self.share)
        // Who comes back once more finds the copy in the same way.
        let second = app.registrationID
        try await test.service.devices.unregister(second, by: app.caller)
        (app.key, app.tag) = (SoftwareSigningKey(), "tag-3")
        try await app.register(after: second)
        #expect(try await release(test, app) == Self.share)
    }

    /// An app that left a share, was unenrolled without a wipe, and is back with a new key and tag; and its former registration.
    private func returned() async throws -> (TestOrganisation, TestApp, former: String) {
        var (test, app) = try await kept()
        let former = app.registrationID
        try await test.service.devices.unregister(former, by: app.caller)
        try await comeBack(&app, "tag-2", after: former)
        return (test, app, former)
    }

    private func comeBack(_ app: inout TestApp, _ tag: String, after former: String) async throws {
        (app.key, app.tag, app.authenticated) = (SoftwareSigningKey(), tag, app.test.clock.now)
        try await app.register(after: former)
    }

    @Test(arguments: ["a wipe", "an administrator", "the app"])
    func `what forgets a share forgets every copy, also of an older one`(who: String) async throws {
        var (test, app, former) = try await returned()
        // The former registration's is another text by now, and guards the same files.
        try await test.service.devices.keepRecoveryShare(
            RecoveryShare(sealed: Base64URL.encode(Data(repeating: 8, count: 60))), registration: app.registrationID,
            by: app.caller)
        switch who {
        case "a wipe":
            _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-2", as: test.owner)
            try await app.wipe()
        case "an administrator":
            try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        default: try await test.service.devices.forgetRecoveryShare(ofRegistration: app.registrationID, by: app.caller)
        }
        try await comeBack(&app, "tag-3", after: former)
        let back = app
        #expect(await failure { _ = try await release(test, back) }?.code == .notFound)
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(RecoveryShareRecord.self) }
        #expect(left.isEmpty)
    }

    @Test func `copies that a version before made are forgotten with the share`() async throws {
        var (test, app, former) = try await returned()
        let id = app.registrationID
        try await test.storage.write(TestOrganisation.tenant) { records in
            var copy = try #require(try records.record(RecoveryShareRecord.self, id))
            copy.origin = nil
            try records.save(copy)
        }
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-2", as: test.owner)
        try await app.wipe()
        try await comeBack(&app, "tag-3", after: former)
        let back = app
        #expect(await failure { _ = try await release(test, back) }?.code == .notFound)
    }

    @Test func `forgetting a registration that has ended takes its share, and not the copy that is in use`()
        async throws
    {
        let (test, app, former) = try await returned()
        try await test.service.administration.forgetRegistration(former, as: test.owner)
        #expect(try await test.records().last?.action == "registration.forget")
        #expect(try await release(test, app) == Self.share)
        var second = app
        try await comeBack(&second, "tag-3", after: former)
        let none = second
        #expect(await failure { _ = try await release(test, none) }?.code == .notFound)
    }

    @Test func `an app that needs its share no more takes none from another one that is in use`() async throws {
        let (test, first, former) = try await returned()
        var second = first
        try await comeBack(&second, "tag-3", after: former)
        try await test.service.devices.forgetRecoveryShare(ofRegistration: first.registrationID, by: first.caller)
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(RecoveryShareRecord.self) }
        #expect(left.map(\.registrationID) == [second.registrationID])
        #expect(try await release(test, second) == Self.share)
    }

    @Test func `a share is given out five times a day, however many copies there are`() async throws {
        var (test, app, former) = try await returned()
        for _ in 0..<3 { _ = try await release(test, app) }
        for tag in ["tag-3", "tag-4"] {
            try await test.service.devices.unregister(app.registrationID, by: app.caller)
            try await comeBack(&app, tag, after: former)
            _ = try await release(test, app)
        }
        try await test.service.devices.unregister(app.registrationID, by: app.caller)
        try await comeBack(&app, "tag-5", after: former)
        let back = app
        #expect(await failure { _ = try await release(test, back) }?.code == .tooManyRequests)
    }

    @Test(arguments: [0.0, 95]) func `a wipe that waits, or has lapsed, holds back every copy of the share`(
        days: Double
    ) async throws {
        let (test, first, former) = try await returned()
        var second = first
        try await comeBack(&second, "tag-3", after: former)
        #expect(try await release(test, second) == Self.share)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-2", as: test.owner)
        if days > 0 {
            // The other one goes on, and its check-in keeps it open.
            test.clock.advance(by: 50 * 86_400)
            try await second.checkIn()
            test.clock.advance(by: (days - 50) * 86_400)
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
        }
        second.authenticated = test.clock.now
        let held = second
        #expect(await failure { _ = try await release(test, held) }?.code == .conflict)
    }

    @Test func `a registration gets no share of one that is in use, of another person's or of another app's`()
        async throws
    {
        let (test, app) = try await kept()
        var second = app
        (second.key, second.tag) = (SoftwareSigningKey(), "tag-2")
        try await second.register(after: app.registrationID)
        let inUse = second
        #expect(await failure { _ = try await release(test, inUse) }?.code == .notFound)
        #expect(try await release(test, app) == Self.share, "nothing was taken from it")
        try await test.service.devices.unregister(app.registrationID, by: app.caller)
        try await test.protect(to: .allLicensedUsers)
        var ben = TestApp(test, user: "ben", tag: "tag-3")
        ben.authenticated = test.clock.now
        try await ben.register(after: app.registrationID)
        let other = ben
        #expect(await failure { _ = try await release(test, other) }?.code == .notFound)
        #expect(await failure { _ = try await release(test, inUse) }?.code == .notFound)
    }

    @Test func `a check-in that names the share is told whether it is kept`() async throws {
        var (test, app) = try await kept()
        try await app.checkIn()
        #expect(app.contact?.hasRecoveryShare == nil, "who names none is told nothing")
        try await app.checkIn(share: Self.share)
        #expect(app.contact?.hasRecoveryShare == true)
        // A service that was restored keeps an older one, or none.
        try await app.checkIn(share: RecoveryShare(sealed: Base64URL.encode(Data(repeating: 8, count: 60))))
        #expect(app.contact?.hasRecoveryShare == false)
        try await test.service.devices.forgetRecoveryShare(ofRegistration: app.registrationID, by: app.caller)
        try await app.checkIn(share: Self.share)
        #expect(app.contact?.hasRecoveryShare == false)
    }

    @Test func `a blocked person gets no share`() async throws {
        let (test, app) = try await kept()
        try await test.service.administration.blockUser("oid-ada", as: test.owner)
        #expect(await failure { _ = try await release(test, app) }?.code == .conflict)
    }
}
