import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// What a stubborn app may write by reporting wipes that no administrator asked for.
struct WipeReportTests {
    private func fail(_ app: TestApp, _ id: String) async throws {
        let receipt = try app.receipt(id, failures: ["a file is held open"], cause: "launch.rooted").signed(by: app.key)
        try await app.acknowledge(.failed, id, receipt: receipt)
    }

    @Test func `a registration reports one failed wipe of its own in a day`() async throws {
        let (test, app) = try await TestApp.enrolled()
        try await fail(app, "own-0")
        let records = try await test.records().count
        for number in 1...20 {
            let error = await failure { try await fail(app, "own-\(number)") }
            #expect(error?.code == .tooManyRequests && error?.retryAfterSeconds == 86_400)
        }
        // The same report again is no other one, and changes nothing.
        try await fail(app, "own-0")
        #expect(try await test.records().count == records)
        #expect(try await test.service.administration.alerts(as: test.owner).count == 1)
        #expect(
            try await test.service.administration.operations(ofRegistration: app.registrationID, as: test.owner).count
                == 1)
        let receipts = try await test.records().filter { $0.details["receipt"] != nil }
        #expect(receipts.count == 1)

        test.clock.advance(by: 0.75 * 86_400)
        #expect(await failure { try await fail(app, "own-21") }?.retryAfterSeconds == 21_600)
        test.clock.advance(by: 0.25 * 86_400)
        try await fail(app, "own-21")
        #expect(try await test.service.administration.alerts(as: test.owner).count == 2)
    }

    @Test func `a wipe that failed while the clock was ahead keeps none from being heard once the clock is right`()
        async throws
    {
        let (test, app) = try await TestApp.enrolled()
        test.clock.advance(by: 10 * 86_400)
        try await fail(app, "own-0")
        test.clock.advance(by: -10 * 86_400)
        try await fail(app, "own-1")
        #expect(try await test.service.administration.alerts(as: test.owner).count == 2)
        #expect(await failure { try await fail(app, "own-2") }?.code == .tooManyRequests)
    }

    @Test func `a blocked person's app that cannot wipe is an alert once, and reports one failure more in a day`()
        async throws
    {
        // SRV-TG-24, SRV-TG-29
        var (test, app) = try await TestApp.enrolled()
        let administration = test.service.administration
        try await administration.blockUser("oid-ada", as: test.owner)
        var ids: [String] = []
        for attempt in 1...9 {
            #expect(try await app.checkIn().response.statusCode == .wipeReceived)
            let id = try #require(app.envelope?.commands.first?.id)
            ids.append(id)
            if attempt > 4 {
                let blocked = app
                #expect(await failure { try await fail(blocked, id) }?.code == .tooManyRequests)
                test.clock.advance(by: 86_400)
            }
            try await fail(app, id)
            #expect(try await administration.alerts(as: test.owner).count == (attempt < 3 ? 0 : 1))
            #expect(try await administration.attention(as: test.owner).failedWipes == (attempt < 3 ? 0 : 1))
        }
        #expect(Set(ids).count == 9)
        #expect(try await test.records().count { $0.details["receipt"] != nil } == 9)
        try await app.checkIn()
        try await app.acknowledge(.succeeded, ids[8], receipt: app.receipt(ids[8]).signed(by: app.key))
        #expect(try await administration.attention(as: test.owner).failedWipes == 0)
        #expect(try await administration.registration(app.registrationID, as: test.owner).state == .wiped)
    }

    @Test func `a blocked person's app that cannot wipe is an alert once, also where each sign-in gives it a new key`()
        async throws
    {
        // SRV-TG-24, SRV-TG-29
        var (test, app) = try await TestApp.enrolled()
        let administration = test.service.administration
        try await administration.blockUser("oid-ada", as: test.owner)
        for attempt in 1...9 {
            app.key = SoftwareSigningKey()
            #expect(try await app.register().result.statusCode == .wipeReceived)
            let id = try #require(app.envelope?.commands.first?.id)
            #expect(try await operation(test, id).attempt == attempt)
            try await fail(app, id)
            #expect(try await administration.alerts(as: test.owner).count == (attempt < 3 ? 0 : 1))
            #expect(try await administration.attention(as: test.owner).failedWipes == (attempt < 3 ? 0 : 1))
        }
    }

    @Test func `a blocked person's app that has wiped at last, and fails again after a sign-in, is another alert`()
        async throws
    {
        // SRV-TG-24, SRV-TG-29
        var (test, app) = try await TestApp.enrolled()
        let administration = test.service.administration
        try await administration.blockUser("oid-ada", as: test.owner)
        for alerts in 1...2 {
            for _ in 0..<3 {
                try await app.checkIn()
                try await fail(app, try #require(app.envelope?.commands.first?.id))
            }
            #expect(try await administration.alerts(as: test.owner).count == alerts)
            test.clock.advance(by: 60)
            try await app.wipe()
            test.clock.advance(by: 60)
            app.key = SoftwareSigningKey()
            app.authenticated = test.clock.now
            try await app.register()
        }
    }

    @Test func `a wipe of the device's own that succeeds at last, and one that was asked for, are heard at once`()
        async throws
    {
        var (test, app) = try await TestApp.enrolled()
        try await fail(app, "own-1")
        let asked = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        try await app.checkIn()
        try await fail(app, asked)
        #expect(try await test.service.administration.operation(asked, as: test.owner).state == .failed)
        try await app.acknowledge(.succeeded, "own-2", receipt: app.receipt("own-2").signed(by: app.key))
        #expect(try await test.service.administration.registration(app.registrationID, as: test.owner).state == .wiped)
    }

    @Test func `another registration's failure is no reason to refuse one`() async throws {
        let (test, app) = try await TestApp.enrolled()
        var other = TestApp(test, tag: "tag-2")
        try await other.register()
        try await fail(app, "own-1")
        try await fail(other, "own-2")
        #expect(try await test.service.administration.alerts(as: test.owner).count == 2)
    }

    @Test func `a receipt that is longer than an honest device makes it is refused`() async throws {
        let (test, app) = try await TestApp.enrolled()
        var many = app.receipt("own")
        many.failures = Array(repeating: "x", count: WipeReceipt.mostFailures + 1)
        var keys = app.receipt("own", failures: ["x"])
        keys.destroyedKeyIDs = Array(repeating: "k", count: WipeReceipt.mostKeyIDs + 1)
        var long = app.receipt("own", failures: ["x"])
        long.cause = String(repeating: "x", count: WipeReceipt.largestText)
        for receipt in [many, keys, long] {
            let text = try receipt.signed(by: app.key)
            #expect(await failure { try await app.acknowledge(.failed, "own", receipt: text) }?.code == .invalid)
        }
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).isEmpty)
        try await app.acknowledge(
            .failed, "own", receipt: app.receipt("own", failures: Array(repeating: "x", count: 900)).signed(by: app.key)
        )
    }

    @Test func `what an app reports of itself takes a day's share of the audit log, and no more`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let count = Locked(0)
        func report(_ wanted: Int) async throws {
            let time = Int64(
                count.withLock { count in
                    count += 1
                    return count
                })
            let outcomes = (0..<wanted).map { number in
                ConditionReport(check: "check-\(number)", threshold: nil, observed: nil, action: .warn, time: time)
            }
            let refused = (0..<wanted).map { number in
                RefusedEnvelope(account: app.account.id, code: "code-\(number)", time: test.clock.now + Double(time))
            }
            _ = try await test.service.devices.checkIn(
                CheckInRequest(
                    appliedSequence: 0, appliedVersion: nil, appliedDigest: nil, application: app.application,
                    device: app.device, health: [], refusedEnvelopes: refused, clientTime: test.clock.now, nonce: "n",
                    outcomes: outcomes),
                registration: app.registrationID, by: app.caller)
        }
        func written() async throws -> [AuditRecord] {
            try await test.records().filter { ["launch.warn", "envelope.refused"].contains($0.action) }
        }
        for _ in 0..<4 { try await report(64) }
        #expect(try await written().count == 256)
        #expect(try await written().allSatisfy { $0.details["leftOut"] == nil })
        test.clock.advance(by: 1 * 86_400)
        try await report(1)
        let next = try await written()
        #expect(next.count == 258 && next[256].details["leftOut"] == "256" && next[257].details["leftOut"] == nil)
    }

    @Test(arguments: ["ends before it begins", "fewer files than none", "fewer bytes than none"])
    func `a receipt that cannot be true ends no wipe`(flaw: String) async throws {
        var (test, app) = try await TestApp.enrolled()
        let id = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        try await app.checkIn()
        var receipt = app.receipt(id)
        switch flaw {
        case "ends before it begins": receipt.finished = receipt.started.addingTimeInterval(-1)
        case "fewer files than none": receipt.files = -1
        default: receipt.bytes = -5
        }
        let text = try receipt.signed(by: app.key)
        let enrolled = app
        #expect(await failure { try await enrolled.acknowledge(.succeeded, id, receipt: text) }?.code == .invalid)
        #expect(try await test.service.administration.operation(id, as: test.owner).state == .delivered)
        try await app.acknowledge(.succeeded, id, receipt: app.receipt(id).signed(by: app.key))
    }

    private func requested(_ test: TestOrganisation, _ app: inout TestApp) async throws -> String {
        let wipe = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0]
        try await app.checkIn()
        return wipe.id
    }

    private func operation(_ test: TestOrganisation, _ id: String) async throws -> WipeOperation {
        try await test.service.administration.operation(id, as: test.owner)
    }

    @Test(arguments: [Acknowledgement.Phase.started, .succeeded, .failed], [true, false])
    func `a receipt says how a wipe ended, and the phase beside it, which nobody signs, does not`(
        phase: Acknowledgement.Phase, isGood: Bool
    ) async throws {
        var (test, app) = try await TestApp.enrolled()
        let id = try await requested(test, &app)
        let receipt = try app.receipt(id, failures: isGood ? [] : ["a file is held open"]).signed(by: app.key)
        try await app.acknowledge(phase, id, receipt: receipt)
        let ended = try await operation(test, id)
        #expect(ended.state == (isGood ? .succeeded : .failed) && ended.receipt == receipt)
        let registration = try await test.service.administration.registration(app.registrationID, as: test.owner)
        #expect(registration.state == (isGood ? .wiped : .active))
    }

    @Test(arguments: ["the same", "the next"])
    func `a wipe that failed ends in success once a receipt of it, or of the next attempt, says so`(
        which: String
    ) async throws {
        var (test, app) = try await TestApp.enrolled()
        let first = try await requested(test, &app)
        for _ in 0..<2 {
            try await fail(app, try #require(app.envelope?.commands.first?.id))
            try await app.checkIn()
        }
        let last = try #require(app.envelope?.commands.first?.id)
        let id = which == "the same" ? first : last
        try await app.acknowledge(.succeeded, id, receipt: app.receipt(id).signed(by: app.key))
        let all = try await test.service.administration.operations(ofRegistration: app.registrationID, as: test.owner)
        #expect(all.count == 3 && all.allSatisfy { !$0.state.isOpen })
        #expect(all.filter { $0.successorID == nil }.map(\.id) == [id])
        let ended = try await operation(test, id)
        #expect(ended.state == .succeeded && ended.failure == nil)
        #expect(try await test.service.administration.registration(app.registrationID, as: test.owner).state == .wiped)
        #expect(try await test.service.administration.attention(as: test.owner).failedWipes == 0)
    }

    @Test func `a failure that was put away is not heard again, and a success is`() async throws {
        var (test, app) = try await TestApp.enrolled()
        try await fail(app, "own-1")
        var failed = ["own-1", try await requested(test, &app)]
        try await fail(app, failed[1])
        for _ in 0..<2 {
            try await app.checkIn()
            failed.append(try #require(app.envelope?.commands.first?.id))
            try await fail(app, failed[failed.count - 1])
        }
        test.clock.advance(by: 5 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        let (records, alerts) = (
            try await test.records().count, try await test.service.administration.alerts(as: test.owner).count
        )
        for id in failed { try await fail(app, id) }
        #expect(try await test.records().count == records)
        #expect(try await test.service.administration.alerts(as: test.owner).count == alerts)
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).isEmpty)
        try await app.acknowledge(.succeeded, "own-1", receipt: app.receipt("own-1").signed(by: app.key))
        #expect(try await operation(test, "own-1").state == .succeeded)
    }

    @Test(arguments: [
        "a/b", "x y", "\0", "\r\n", "\u{202E}abc", "\u{1F600}", ".", "..", "", String(repeating: "x", count: 129),
    ])
    func `a wipe of the device's own needs an id that a URL carries`(id: String) async throws {
        let (test, app) = try await TestApp.enrolled()
        #expect(await failure { try await fail(app, id) }?.code == .invalid)
        #expect(try await test.service.administration.operations(ofRegistration: nil, as: test.owner).isEmpty)
    }
}
