import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// The audit log's signed heads, and the log at a receiver.
@Suite struct AuditDeliveryTests {
    /// A receiver that keeps what it takes.
    private final class Receiver: Sendable {
        let batches = Locked<[AuditBatch]>([])
        let isUp = Locked(true)

        func take(_ batch: AuditBatch) -> Bool {
            batches.withLock { $0.append(batch) }
            return isUp.withLock { $0 }
        }

        var records: [AuditRecord] { batches.withLock { $0.flatMap(\.records) } }
    }

    private func write(_ test: TestOrganisation, _ count: Int) async throws {
        for number in 0..<count { try await test.protect(name: "Policy \(number)") }
    }

    @Test
    func `the head is signed a quarter of an hour or a thousand records after the last time, and not without news`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        func heads() async throws -> [AuditRecord] {
            try await test.records().filter { $0.action == "audit.checkpoint" }
        }
        for _ in 0..<2 { try await test.service.signAuditHead(of: TestOrganisation.tenant) }
        #expect(try await heads().count == 1)
        try await test.protect()
        try await test.service.signAuditHead(of: TestOrganisation.tenant)
        #expect(try await heads().count == 1, "too soon")
        test.clock.advance(by: 900)
        try await test.service.signAuditHead(of: TestOrganisation.tenant)
        let found = try await heads()
        #expect(found.count == 2 && found.allSatisfy { $0.actor.kind == .service })
        test.clock.advance(by: 9_000)
        try await test.service.signAuditHead(of: TestOrganisation.tenant)
        #expect(try await heads().count == 2, "nothing was written")
        // An outsider checks them with the export.
        var verifier = AuditLogVerifier(pin: nil, earlier: [])
        for line in try await test.export() { verifier.read(line) }
        #expect(verifier.report().isSound)
    }

    @Test func `a receiver gets every record in order, at least once, and goes on where it was`() async throws {
        let (test, receiver) = (try await TestOrganisation.withPeople(), Receiver())
        try await write(test, 50)
        receiver.isUp.withLock { $0 = false }
        for _ in 0..<3 {
            try await test.service.deliverAudit(of: TestOrganisation.tenant) { receiver.take($0) }
        }
        #expect(receiver.batches.withLock { $0.map(\.after) } == [0], "not again at once")
        test.clock.advance(by: 30)
        receiver.isUp.withLock { $0 = true }
        try await test.service.deliverAudit(of: TestOrganisation.tenant) { receiver.take($0) }
        let all = try await test.records()
        let first = receiver.batches.withLock { $0.removeFirst() }
        #expect(receiver.batches.withLock { $0.first?.id } == first.id, "the same batch has the same id")
        #expect(all.count > 100 && receiver.records == all)
        // Another process with the same store goes on behind it.
        try await write(test, 1)
        let restarted = try await TestOrganisation(storage: test.storage, keyStore: test.keyStore, clock: test.clock)
        try await restarted.service.deliverAudit(of: TestOrganisation.tenant) { receiver.take($0) }
        #expect(receiver.records.map(\.sequence) == (try await test.records()).map(\.sequence))
    }

    @Test func `of a long log some goes out at a time where the receiver is slow, so that nothing else waits long`()
        async throws
    {
        let (test, receiver) = (try await TestOrganisation.withPeople(), Receiver())
        try await write(test, 50)
        for batches in [1, 2] {
            try await test.service.deliverAudit(of: TestOrganisation.tenant) { batch in
                test.clock.advance(by: 20)
                return receiver.take(batch)
            }
            #expect(receiver.batches.withLock { $0.count } == batches)
        }
        #expect(receiver.records == (try await test.records()))
    }

    @Test func `what failed or was done while the clock was ahead is tried and done again once it is right`()
        async throws
    {
        let (test, receiver) = (try await TestOrganisation.withPeople(), Receiver())
        let (now, tenant) = (test.clock.now, TestOrganisation.tenant)
        try await test.storage.write(tenant) { transaction in
            try transaction.save(
                OperatorAlert(
                    id: "alert", kind: .wipeFailed, time: now, operationID: "o", registrationID: "r", userID: "u",
                    bundleID: "b", attempts: 3))
        }
        let alerts = Locked<[String]>([])
        func deliver() async throws {
            try await test.service.deliverAudit(of: tenant) { receiver.take($0) }
            try await test.service.deliverAlerts(of: tenant) { alert in
                alerts.withLock { $0.append(alert.id) }
                return receiver.isUp.withLock { $0 }
            }
        }
        // Certificates have ended by then, so nothing is delivered.
        test.clock.advance(by: 366 * 86_400)
        receiver.isUp.withLock { $0 = false }
        for _ in 0..<12 {
            try await deliver()
            test.clock.advance(by: 3_600)
        }
        try await test.service.signAuditHead(of: tenant)
        let heads = try await test.records().count { $0.action == "audit.checkpoint" }
        test.clock.set(now)
        receiver.isUp.withLock { $0 = true }
        receiver.batches.withLock { $0 = [] }
        try await deliver()
        #expect(receiver.records == (try await test.records()))
        #expect(alerts.withLock { $0.count } == 13)
        try await test.protect()
        try await test.service.signAuditHead(of: tenant)
        #expect(try await test.records().count { $0.action == "audit.checkpoint" } == heads + 1)
    }

    @Test func `records that have the numbers of lost ones come under another id`() async throws {
        let ids = Locked<Set<String>>([])
        for name in ["One", "Other"] {
            let test = try await TestOrganisation.withPeople()
            try await test.service.deliverAudit(of: TestOrganisation.tenant) { _ in true }
            // The store from here on, and the one that was put back to here.
            try await test.protect(name: name)
            try await test.service.deliverAudit(of: TestOrganisation.tenant) { batch in
                ids.withLock { _ = $0.insert(batch.id) }
                return true
            }
        }
        #expect(ids.withLock { $0.count } == 2)
    }

    @Test func `apps that drift for more than a day are an alert, once a day`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        func alerts() async throws -> [OperatorAlert] {
            try await test.service.administration.alerts(as: test.owner).filter { $0.kind == .rulesDrift }
        }
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await alerts() == [])
        test.clock.advance(by: 25 * 3_600)
        for _ in 0..<2 { try await test.service.performMaintenance(of: TestOrganisation.tenant) }
        #expect(try await alerts().map(\.target) == ["reports/drift"])
        test.clock.advance(by: 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await alerts().count == 2)
        // A clock that was ahead keeps no alert back until then.
        for (days, count) in [(20.0, 3), (-19, 4)] {
            test.clock.advance(by: days * 86_400)
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
            #expect(try await alerts().count == count)
        }
    }
}
