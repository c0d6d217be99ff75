import CordonBase
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-TG-29: an operator of the service hears of a wipe that failed for good.
struct AlertTests {
    /// A receiver that takes what it is told to take.
    private final class Receiver: Sendable {
        let got = Locked<[String]>([])
        let takes = Locked(true)

        func take(_ alert: OperatorAlert) -> Bool {
            got.withLock { $0.append(alert.id) }
            return takes.withLock { $0 }
        }
    }

    /// Fails the wipe that the app is told of, and answers how often that was.
    private func failWipes(_ test: TestOrganisation, _ app: inout TestApp) async throws -> Int {
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        var failed = 0
        while true {
            try await app.checkIn()
            let open = try await test.service.administration.operations(
                ofRegistration: app.registrationID, as: test.owner
            )
            .first(where: \.state.isOpen)
            guard let open else { return failed }
            let receipt = try app.receipt(open.id, failures: ["a file is held open"]).signed(by: app.key)
            try await app.acknowledge(.failed, open.id, receipt: receipt)
            try await app.acknowledge(.failed, open.id, receipt: receipt)
            failed += 1
        }
    }

    private func deliver(_ test: TestOrganisation, to receiver: Receiver) async throws {
        try await test.service.deliverAlerts(of: TestOrganisation.tenant) { receiver.take($0) }
    }

    @Test func `a wipe that failed for good is an alert once, naming ids alone`() async throws {
        var (test, app) = try await TestApp.enrolled()
        #expect(try await failWipes(test, &app) == 3)
        let alerts = try await test.service.administration.alerts(as: test.administrator(.reader))
        let alert = try #require(alerts.first)
        #expect(alerts.count == 1 && alert.kind == .wipeFailed && alert.attempts == 3 && alert.userID == "oid-ada")
        #expect(alert.registrationID == app.registrationID && alert.bundleID == TestOrganisation.app)
        #expect(try await test.service.administration.operation(alert.operationID ?? "", as: test.owner).attempt == 3)
        #expect(!String(describing: alert).contains("ada@"))
        let record = try await test.records().last { $0.action == "wipe.alert" }
        #expect(record?.target == "operation/\(alert.operationID ?? "")" && record?.details["alert"] == alert.id)
        let nobody = Administrator(tenant: TestOrganisation.tenant, id: "nobody", name: "Nobody", roles: [])
        #expect(await failure { _ = try await test.service.administration.alerts(as: nobody) }?.code == .forbidden)
    }

    @Test
    func `the last attempt of a wipe that failed needs attention, and no attempt once a later wipe has succeeded`()
        async throws
    {
        var (test, app) = try await TestApp.enrolled()
        let (administration, owner) = (test.service.administration, test.owner)
        #expect(try await failWipes(test, &app) == 3)
        #expect(try await administration.attention(as: owner).failedWipes == 1)
        let attempts = try await administration.operations(ofRegistration: app.registrationID, as: owner)
        #expect(attempts.count { $0.successorID == nil } == 1)
        let again = try await administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: owner)[0].id
        #expect(try await administration.attention(as: owner).failedWipes == 1)
        try await app.checkIn()
        try await app.acknowledge(.succeeded, again, receipt: app.receipt(again).signed(by: app.key))
        #expect(try await administration.attention(as: owner).failedWipes == 0)
        let all = try await administration.operations(ofRegistration: app.registrationID, as: owner)
        #expect(all.filter { $0.successorID == nil }.map(\.id) == [again])
    }

    @Test func `a wipe that goes on in another's place is no alert, and one of the device's own is`() async throws {
        var (test, app) = try await TestApp.enrolled()
        let id = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        try await app.checkIn()
        var again = app
        again.key = SoftwareSigningKey()
        try await again.register()
        try await app.acknowledge(.failed, id, receipt: app.receipt(id, failures: ["x"]).signed(by: app.key))
        #expect(try await test.service.administration.operation(id, as: test.owner).state == .failed)
        #expect(try await test.service.administration.alerts(as: test.owner).isEmpty)
        try await again.acknowledge(
            .failed, "device-made", receipt: again.receipt("device-made", failures: ["x"]).signed(by: again.key))
        #expect(try await test.service.administration.alerts(as: test.owner).map(\.operationID) == ["device-made"])
    }

    @Test func `an alert is delivered once, and again and again as long as no receiver takes it`() async throws {
        var (test, app) = try await TestApp.enrolled()
        _ = try await failWipes(test, &app)
        let receiver = Receiver()
        receiver.takes.withLock { $0 = false }
        try await deliver(test, to: receiver)
        // Half a minute, then a minute.
        for (pause, count) in [(29.0, 1), (1, 2), (59, 2), (1, 3)] {
            test.clock.advance(by: pause)
            try await deliver(test, to: receiver)
            #expect(receiver.got.withLock { $0.count } == count, "\(pause)")
        }
        receiver.takes.withLock { $0 = true }
        test.clock.advance(by: 3_600)
        // Another start of the service goes on where the first one stopped.
        let next = try await TestOrganisation(storage: test.storage, keyStore: test.keyStore, clock: test.clock)
        try await deliver(next, to: receiver)
        try await deliver(next, to: receiver)
        #expect(receiver.got.withLock { ($0.count, Set($0).count) } == (4, 1))
        let alert = try await test.service.administration.alerts(as: test.owner)[0]
        #expect(alert.delivered == test.clock.now && alert.failedDeliveries == 3 && alert.nextDelivery == nil)
    }

    @Test func `an alert that no receiver takes is given up after three days and stays in the list for thirty`()
        async throws
    {
        var (test, app) = try await TestApp.enrolled()
        _ = try await failWipes(test, &app)
        let receiver = Receiver()
        receiver.takes.withLock { $0 = false }
        for _ in 0..<85 {
            try await deliver(test, to: receiver)
            test.clock.advance(by: 3_600)
        }
        #expect(receiver.got.withLock { $0.count } == 80)
        #expect(try await test.service.administration.alerts(as: test.owner).map(\.nextDelivery) == [nil])
        test.clock.advance(by: 26 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.service.administration.alerts(as: test.owner).count == 1)
        test.clock.advance(by: 1 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.service.administration.alerts(as: test.owner).isEmpty)
    }

    @Test func `an alert that was made while the clock was ahead is given up as well`() async throws {
        let (test, receiver) = (try await TestOrganisation(), Receiver())
        receiver.takes.withLock { $0 = false }
        try await keep(1, in: test, made: test.clock.now + 366 * 86_400)
        for _ in 0..<85 {
            try await deliver(test, to: receiver)
            test.clock.advance(by: 3_600)
        }
        #expect(receiver.got.withLock { $0.count } == 80)
    }

    private func keep(_ count: Int, in test: TestOrganisation, made: Date? = nil) async throws {
        let now = made ?? test.clock.now
        try await test.storage.write(TestOrganisation.tenant) { transaction in
            for index in 1...count {
                try transaction.save(
                    OperatorAlert(
                        id: "alert-\(index)", kind: .wipeFailed, time: now - 1_000 + Double(index), operationID: "o",
                        registrationID: "r", userID: "u", bundleID: "b", attempts: 3))
            }
        }
    }

    @Test func `of very many alerts some go out at a time where the receiver is slow, so that nothing else waits long`()
        async throws
    {
        let (test, receiver) = (try await TestOrganisation(), Receiver())
        try await keep(150, in: test)
        for count in [3, 6] {
            try await test.service.deliverAlerts(of: TestOrganisation.tenant) { alert in
                test.clock.advance(by: 9)
                return receiver.take(alert)
            }
            #expect(receiver.got.withLock { $0.count } == count)
        }
        try await deliver(test, to: receiver)
        #expect(receiver.got.withLock { $0 } == (1...150).map { "alert-\($0)" })
    }

    @Test func `a receiver that is down is asked once, and the rest waits`() async throws {
        let test = try await TestOrganisation()
        try await keep(3, in: test)
        let receiver = Receiver()
        receiver.takes.withLock { $0 = false }
        try await deliver(test, to: receiver)
        #expect(receiver.got.withLock { $0 } == ["alert-1"])
        receiver.takes.withLock { $0 = true }
        try await deliver(test, to: receiver)
        #expect(receiver.got.withLock { $0 } == ["alert-1", "alert-2", "alert-3"])
    }
}
