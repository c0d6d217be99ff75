import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-TG-23…31, SRV-CI-006, 007, 020, 086 from the service's side.
struct WipeTests {
    private func enrolled() async throws -> (TestOrganisation, TestApp) {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        try await test.protect(app: "com.example.mail", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        return (test, app)
    }

    private func request(_ test: TestOrganisation) async throws -> [WipeOperation] {
        try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
    }

    private func state(_ test: TestOrganisation, _ id: String) async throws -> WipeOperation.State {
        try await test.service.administration.operation(id, as: test.owner).state
    }

    @Test func `a wipe goes from pending to succeeded, and its receipt closes the registration`() async throws {
        // SRV-TG-23, SRV-TG-26, SRV-TG-30
        var (test, app) = try await enrolled()
        var mail = TestApp(test, bundleID: "com.example.mail")
        try await mail.register()
        let operations = try await request(test)
        #expect(operations.count == 2)
        let id = try #require(operations.first { $0.registrationID == app.registrationID }).id
        #expect(try await state(test, id) == .pending)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
        #expect(app.envelope?.commands.map(\.id) == [id])
        #expect(try await state(test, id) == .delivered)
        try await app.acknowledge(.started, id)
        #expect(try await state(test, id) == .acknowledged)
        let receipt = try app.receipt(id).signed(by: app.key)
        try await app.acknowledge(.succeeded, id, receipt: receipt)
        let finished = try await test.service.administration.operation(id, as: test.owner)
        #expect(finished.state == .succeeded && finished.receipt == receipt)
        #expect(try await test.service.administration.registration(app.registrationID, as: test.owner).state == .wiped)
        #expect(await failure { try await app.checkIn() }?.status == .registrationGone)
        #expect(
            try await test.service.administration.registration(mail.registrationID, as: test.owner).state == .active)
        let steps = try await test.records().filter { $0.target == "operation/\(id)" }.map(\.action)
        #expect(steps == ["wipe.request", "wipe.delivered", "wipe.acknowledged", "wipe.succeeded"])
    }

    @Test func `a receipt counts where the store does not know that the wipe was delivered, as after a restore`()
        async throws
    {
        let (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        #expect(try await state(test, id) == .pending)
        try await app.acknowledge(.succeeded, id, receipt: app.receipt(id).signed(by: app.key))
        #expect(try await state(test, id) == .succeeded)
        #expect(try await test.service.administration.registration(app.registrationID, as: test.owner).state == .wiped)
    }

    @Test func `repeated reports change nothing`() async throws {
        // SRV-CI-007, SRV-CI-020
        var (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        try await app.checkIn()
        try await app.acknowledge(.started, id)
        let once = try await test.records().count
        try await app.acknowledge(.started, id)
        #expect(try await test.records().count == once)
        let receipt = try app.receipt(id).signed(by: app.key)
        try await app.acknowledge(.succeeded, id, receipt: receipt)
        let done = try await test.records().count
        try await app.acknowledge(.succeeded, id, receipt: receipt)
        try await app.acknowledge(.started, id)
        #expect(try await test.records().count == done)
        #expect(try await state(test, id) == .succeeded)
    }

    @Test func `a missing or false receipt is refused and the wipe stays open`() async throws {
        // SRV-TG-26
        var (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        try await app.checkIn()
        var foreign = app
        foreign.registrationID = "another"
        let good = app.receipt(id)
        let wrong: [String?] = [
            nil, "not.a.jws", try good.signed(by: SoftwareSigningKey()),
            try app.receipt("another-command").signed(by: app.key), try foreign.receipt(id).signed(by: app.key),
            try CompactJWS.sign(try MessageCoding.encode(good), type: .policyEnvelope, with: app.key),
        ]
        for receipt in wrong {
            #expect(await failure { try await app.acknowledge(.succeeded, id, receipt: receipt) }?.code == .invalid)
        }
        #expect(try await state(test, id) == .delivered)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
    }

    @Test func `an unknown command and another registration's command are not found`() async throws {
        // SRV-CI-020
        var (test, app) = try await enrolled()
        var mail = TestApp(test, bundleID: "com.example.mail")
        try await mail.register()
        _ = try await request(test)
        try await app.checkIn()
        let id = try #require(app.envelope?.commands.first?.id)
        #expect(await failure { try await app.acknowledge(.started, "unknown") }?.code == .notFound)
        #expect(await failure { try await mail.acknowledge(.started, id) }?.code == .notFound)
    }

    @Test func `asking twice is asking once`() async throws {
        let (test, _) = try await enrolled()
        let first = try await request(test)
        #expect(try await request(test) == first)
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).count == 1)
    }

    @Test func `an unknown device tag is refused with the known ones`() async throws {
        // SRV-OP-057
        let (test, _) = try await enrolled()
        let error = await failure {
            _ = try await test.service.administration.requestWipe(
                ofUser: "oid-ada", deviceTag: "nonsense", as: test.owner)
        }
        #expect(error?.code == .invalid && error?.hint.contains("tag-1") == true)
        #expect(
            await failure {
                _ = try await test.service.administration.requestWipe(
                    ofUser: "nobody", deviceTag: "tag-1", as: test.owner)
            }?.code == .notFound)
    }

    @Test func `only a pending wipe can be cancelled`() async throws {
        // SRV-TG-27
        var (test, app) = try await enrolled()
        let first = try await request(test)[0].id
        #expect(try await test.service.administration.cancelOperation(first, as: test.owner).state == .cancelled)
        #expect(try await app.checkIn().response.statusCode != .wipeReceived)
        let second = try await request(test)[0].id
        #expect(second != first)
        try await app.checkIn()
        #expect(
            await failure { _ = try await test.service.administration.cancelOperation(second, as: test.owner) }?.code
                == .conflict)
        #expect(try await state(test, second) == .delivered)
    }

    @Test(arguments: [("P30D", 94.0), ("P365D", 369), ("PT0S", 94)])
    func `a wipe waits as long as its policy lets an app be offline, and four days, and never shorter than usual`(
        period: String, days: Double
    ) async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(["periodOfflineBeforeWipeIsEnforced": .string(period)], to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let operation = try await request(test)[0]
        #expect(operation.notAfter == test.clock.now.addingTimeInterval(days * 86_400))
    }

    @Test func `a wipe that was handed out and not reported in time lapses, and is told again`() async throws {
        // SRV-TG-28
        var (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        try await app.checkIn()
        test.clock.advance(by: 93.9 * 86_400)
        #expect(try await state(test, id) == .delivered)
        test.clock.advance(by: 0.1 * 86_400)
        try await app.register()
        #expect(try await state(test, id) == .expired)
        let command = try #require(app.envelope?.commands.first)
        #expect(command.kind == .wipe && command.id != id)
    }

    @Test(arguments: [true, false], ["fetched by nobody", "lost on the way", "begun"])
    func `an app that comes back after its wipe has lapsed is told to wipe all the same, once`(
        maintained: Bool, how: String
    ) async throws {
        var (test, app) = try await enrolled()
        let lapsed = try await request(test)[0]
        if how != "fetched by nobody" { try await app.checkIn() }
        if how == "begun" { try await app.acknowledge(.started, lapsed.id) }
        test.clock.advance(by: 95 * 86_400)
        if maintained {
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
            #expect(try await state(test, lapsed.id) == .expired)
            test.clock.advance(by: 5 * 86_400)
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
        }
        try await app.register()
        let command = try #require(app.envelope?.commands.first)
        #expect(command.kind == .wipe && command.id != lapsed.id && command.reason == lapsed.reason)
        try await app.acknowledge(.succeeded, command.id, receipt: try app.receipt(command.id).signed(by: app.key))
        test.clock.advance(by: 1 * 86_400)
        app.authenticated = test.clock.now
        try await app.register()
        #expect(app.envelope?.commands.isEmpty == true)
    }

    @Test(arguments: [true, false], [Acknowledgement.Phase.succeeded, .failed])
    func `a late receipt of a wipe that lapsed counts for the one that a new key is told instead`(
        maintained: Bool, phase: Acknowledgement.Phase
    ) async throws {
        // SRV-TG-28, SRV-TG-29
        var (test, app) = try await enrolled()
        let lapsed = try await request(test)[0].id
        try await app.checkIn()
        test.clock.advance(by: 95 * 86_400)
        if maintained { try await test.service.performMaintenance(of: TestOrganisation.tenant) }
        var again = TestApp(test)
        try await again.register()
        let told = try #require(again.envelope?.commands.first)
        #expect(told.kind == .wipe, "the control")
        let receipt = try app.receipt(lapsed, failures: phase == .failed ? ["a file is held open"] : [])
            .signed(by: app.key)
        try await app.acknowledge(phase, lapsed, receipt: receipt)
        // What the new registration has is new where the wipe had succeeded; where it failed, the wipe goes on in its place.
        let goesOn = phase == .failed
        #expect(try await (again.checkIn().response.statusCode == .wipeReceived) == goesOn)
        #expect(try await state(test, told.id) == (goesOn ? .delivered : .expired))
        #expect(try await test.service.administration.alerts(as: test.owner).isEmpty)
    }

    @Test func `a late failure of a wipe that lapsed adds no wipe to the one that is told in its place`() async throws {
        // SRV-TG-28, SRV-TG-29
        var (test, app) = try await enrolled()
        let lapsed = try await request(test)[0].id
        try await app.checkIn()
        test.clock.advance(by: 95 * 86_400)
        try await app.register()
        let told = try #require(app.envelope?.commands.first?.id)
        let receipt = try app.receipt(lapsed, failures: ["a file is held open"]).signed(by: app.key)
        try await app.acknowledge(.failed, lapsed, receipt: receipt)
        try await app.checkIn()
        #expect(app.envelope?.commands.map(\.id) == [told])
        #expect(try await test.service.administration.alerts(as: test.owner).isEmpty)
    }

    @Test func `a wipe that lapsed and the one in its place may both be reported as done`() async throws {
        var (test, app) = try await enrolled()
        let lapsed = try await request(test)[0].id
        try await app.checkIn()
        test.clock.advance(by: 95 * 86_400)
        try await app.register()
        let told = try #require(app.envelope?.commands.first?.id)
        for id in [lapsed, told, lapsed] {
            try await app.acknowledge(.succeeded, id, receipt: app.receipt(id).signed(by: app.key))
            #expect(try await state(test, id) == .succeeded)
        }
        #expect(try await test.service.administration.registration(app.registrationID, as: test.owner).state == .wiped)
    }

    @Test func `the receipt of a wipe that lapsed and was put away is heard, though its registration is closed`()
        async throws
    {
        // SRV-TG-28
        var (test, app) = try await enrolled()
        let lapsed = try await request(test)[0]
        try await app.checkIn()
        for days in [95.0, 5] {
            test.clock.advance(by: days * 86_400)
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
        }
        let administration = test.service.administration
        #expect(try await administration.operations(ofRegistration: nil, as: test.owner).isEmpty, "the control")
        #expect(try await administration.registration(app.registrationID, as: test.owner).state == .expired)
        try await app.acknowledge(.succeeded, lapsed.id, receipt: app.receipt(lapsed.id).signed(by: app.key))
        let heard = try await administration.operation(lapsed.id, as: test.owner)
        #expect(heard.state == .succeeded && heard.reason == lapsed.reason)
        var again = TestApp(test)
        again.authenticated = test.clock.now
        try await again.register()
        #expect(again.envelope?.commands.isEmpty == true)
    }

    @Test func `what comes back from before a wipe that was reported late is wiped again`() async throws {
        var (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        try await app.checkIn()
        // Enrolled anew before the receipt has come.
        var again = TestApp(test)
        try await again.register()
        test.clock.advance(by: 60)
        let signedIn = test.clock.now
        test.clock.advance(by: 60)
        try await app.acknowledge(.succeeded, id, receipt: app.receipt(id).signed(by: app.key))
        #expect(try await test.records().last?.action == "registration.wiped")
        #expect(try await again.checkIn().response.statusCode != .wipeReceived, "what it has is new")
        var copy = TestApp(test)
        copy.authenticated = signedIn
        let refused = await failure { try await copy.register(inPlaceOf: app.registrationID) }
        #expect(refused?.status == .authenticationRequired)
        copy.authenticated = test.clock.now
        #expect(try await copy.register(inPlaceOf: app.registrationID).result.statusCode == .wipeReceived)
        #expect(copy.envelope?.commands.map(\.kind) == [.wipe])
    }

    @Test func `a new key is no way around a wipe that has lapsed, and forgetting the app is the end of it`()
        async throws
    {
        let (test, _) = try await enrolled()
        _ = try await request(test)
        test.clock.advance(by: 95 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        var another = TestApp(test)
        try await another.register()
        #expect(another.envelope?.commands.map(\.kind) == [.wipe])
        try await test.service.administration.forgetRegistration(another.registrationID, as: test.owner)
        var third = TestApp(test)
        try await third.register()
        #expect(third.envelope?.commands.isEmpty == true)
    }

    @Test func `a failed wipe is issued three times in all`() async throws {
        // SRV-TG-29
        var (test, app) = try await enrolled()
        _ = try await request(test)
        var ids: [String] = []
        for _ in 0..<3 {
            try await app.checkIn()
            let id = try #require(app.envelope?.commands.first?.id)
            ids.append(id)
            let receipt = try app.receipt(id, failures: ["a file is held open"]).signed(by: app.key)
            try await app.acknowledge(.failed, id, receipt: receipt)
            #expect(
                try await test.service.administration.operation(id, as: test.owner).failure == "a file is held open")
        }
        #expect(Set(ids).count == 3)
        #expect(try await app.checkIn().response.statusCode != .wipeReceived)
        let attempts = try await test.service.administration.operations(
            ofRegistration: app.registrationID, as: test.owner)
        #expect(attempts.map(\.attempt).sorted() == [1, 2, 3])
        #expect(attempts.allSatisfy { $0.state == .failed })
        let steps = try await test.records().filter { $0.action == "wipe.failed" }
        #expect(steps.count == 3 && steps.allSatisfy { $0.details["failure"] == "a file is held open" })
    }

    @Test func `a wipe that the device decided itself is kept with its receipt`() async throws {
        // SRV-TG-31
        let (test, app) = try await enrolled()
        let receipt = try app.receipt("device-made-id", cause: "launch.rooted").signed(by: app.key)
        try await app.acknowledge(.succeeded, "device-made-id", receipt: receipt)
        let operation = try await test.service.administration.operation("device-made-id", as: test.owner)
        #expect(operation.state == .succeeded && operation.displayName == "Wipe (conditional launch)")
        #expect(operation.cause == "launch.rooted")
        #expect(try await test.records().last { $0.action == "wipe.succeeded" }?.details["cause"] == "launch.rooted")
        #expect(try await test.service.administration.registration(app.registrationID, as: test.owner).state == .wiped)
        try await app.acknowledge(.succeeded, "device-made-id", receipt: receipt)
    }

    @Test func `an app cannot leave while a wipe waits for it`() async throws {
        let (test, app) = try await enrolled()
        _ = try await request(test)
        #expect(
            await failure { try await test.service.devices.unregister(app.registrationID, by: app.caller) }?.code
                == .conflict)
    }

    @Test(arguments: ["no attempt has succeeded", "it was taken back"])
    func `a blocked person's app cannot leave while no wipe is open either`(because: String) async throws {
        var (test, app) = try await enrolled()
        try await test.service.administration.blockUser("oid-ada", as: test.owner)
        if because == "it was taken back" {
            let open = try await test.service.administration.operations(
                ofRegistration: app.registrationID, as: test.owner)
            _ = try await test.service.administration.cancelOperation(open[0].id, as: test.owner)
        } else {
            for _ in 0..<3 {
                try await app.checkIn()
                let id = try #require(app.envelope?.commands.first?.id)
                try await app.acknowledge(.failed, id, receipt: app.receipt(id, failures: ["x"]).signed(by: app.key))
            }
        }
        let left = app
        let operations = try await test.service.administration.operations(
            ofRegistration: app.registrationID, as: test.owner)
        #expect(operations.allSatisfy { !$0.state.isOpen }, "the control")
        #expect(
            await failure { try await test.service.devices.unregister(left.registrationID, by: left.caller) }?.code
                == .conflict)
        try await test.service.administration.unblockUser("oid-ada", as: test.owner)
        try await test.service.devices.unregister(app.registrationID, by: app.caller)
    }

    @Test func `a blocked person's apps wipe at every check-in until unblocked`() async throws {
        // SRV-TG-24, SRV-CI-019
        var (test, app) = try await enrolled()
        try await test.service.administration.blockUser("ada@contoso.example", as: test.owner)
        #expect(try await test.service.administration.blockedUsers(as: test.owner) == ["oid-ada"])
        let outcome = try await app.checkIn()
        #expect(outcome.isUserBlocked && outcome.response.statusCode == .wipeReceived)
        try await app.wipe()
        app.authenticated = test.clock.now
        #expect(try await app.register().isUserBlocked)
        try await app.wipe()
        try await test.service.administration.unblockUser("oid-ada", as: test.owner)
        let free = try await app.register()
        #expect(!free.isUserBlocked && free.result.statusCode == .newPolicies)
    }

    @Test func `a late receipt after expiry still counts, because it is true`() async throws {
        var (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        try await app.checkIn()
        test.clock.advance(by: 95 * 86_400)
        try await app.register()
        #expect(try await state(test, id) == .expired)
        try await app.acknowledge(.succeeded, id, receipt: app.receipt(id).signed(by: app.key))
        #expect(try await state(test, id) == .succeeded)
    }

    @Test(arguments: [Acknowledgement.Phase.started, .failed])
    func `a late report of a forgotten registration opens no wipe again`(phase: Acknowledgement.Phase) async throws {
        var (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        try await app.checkIn()
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        let receipt = try app.receipt(id, failures: ["held open"]).signed(by: app.key)
        try await app.acknowledge(phase, id, receipt: phase == .failed ? receipt : nil)
        let all = try await test.service.administration.operations(ofRegistration: nil, as: test.owner)
        #expect(all.map(\.state) == [phase == .failed ? .failed : .expired])
        try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner)
    }

    @Test func `forgetting a closed registration ends the wipes that are open for it`() async throws {
        let (test, app) = try await enrolled()
        test.clock.advance(by: 10 * 86_400)
        let id = try await request(test)[0].id
        test.clock.advance(by: 80 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(
            try await test.service.administration.registration(app.registrationID, as: test.owner).state == .expired)
        #expect(
            await failure { try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner) }?
                .code
                == .conflict)
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        #expect(try await state(test, id) == .expired)
        try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner)
    }

    @Test func `forgetting a registration ends it and its wipes`() async throws {
        var (test, app) = try await enrolled()
        let id = try await request(test)[0].id
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        #expect(try await state(test, id) == .expired)
        #expect(await failure { try await app.checkIn() }?.status == .registrationGone)
    }
}
