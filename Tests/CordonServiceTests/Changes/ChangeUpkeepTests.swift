import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// What waits for a second person ends by itself, and is put away.
@Suite struct ChangeUpkeepTests {
    @Test func `waiting changes expire, budgets of past hours go, and what is over is put away in time`() async throws {
        var configuration = ServiceConfiguration()
        (configuration.wipeBudget, configuration.impactLimit) = (1, 100)
        let (test, _) = try await DestructiveChangeTests.staffed(3, configuration: configuration)
        let (admin, day) = (test.service.administration, 86_400.0)
        for id in ["owner-1", "owner-2"] {
            var approver = test.owner
            approver.id = id
            _ = try await admin.approvals.changes(as: approver)
        }
        _ = try await admin.requestWipe(ofUser: "oid-0", deviceTag: "tag-0", as: test.owner)
        let waiting = try #require(
            await failure { _ = try await admin.requestWipe(ofUser: "oid-1", deviceTag: "tag-1", as: test.owner) }?
                .place)
        func kept<Record: StoredRecord>(_ type: Record.Type) async throws -> [Record] {
            try await test.storage.read(TestOrganisation.tenant) { try $0.records(type) }
        }
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await kept(WaitingChange.self).map(\.state) == [.waiting])
        #expect(try await kept(WipeBudget.self).count == 1)
        #expect(try await kept(KnownApprovers.self).first?.seen.count == 2)

        test.clock.advance(by: day)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await kept(WaitingChange.self).map(\.state) == [.expired])
        #expect(try await kept(WipeBudget.self) == [])
        let record = try #require(try await test.records().last { $0.action == "change.expire" })
        #expect(record.target == "change/\(waiting)" && record.actor.kind == .service)
        let late = await failure { _ = try await admin.approvals.release(waiting, as: test.administrator(.owner)) }
        #expect(late?.code == .conflict)

        test.clock.advance(by: 29 * day)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await kept(WaitingChange.self).count == 1)
        test.clock.advance(by: 2 * day)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await kept(WaitingChange.self) == [])
        test.clock.advance(by: 60 * day)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await kept(KnownApprovers.self).first?.seen.isEmpty == true)
    }

    @Test func `changes that an earlier version kept with secret values are removed by maintenance, some at a time`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let start = test.clock.now
        @Sendable func pair(_ value: String) -> JSONValue { ["name": "vpnPassword", "value": .string(value)] }
        try await test.storage.write(TestOrganisation.tenant) { records in
            let clear = (0...Upkeep.most).map { ("clear-\($0)", "HUNTER2") }
            for (id, before) in clear + [("hidden", "cordon-secret:00")] {
                let change = MemberChange(
                    member: "customSettings[vpnPassword]", from: pair(before), to: pair("cordon-secret:11"),
                    direction: nil)
                try records.save(
                    WaitingChange(
                        id: id, digest: "d", action: "policy.update", entity: "policy/A_1", reach: .nobody,
                        changes: [change], wipes: [], requester: .init(id: "x", isProgram: false, client: nil),
                        reason: nil, requested: start, due: nil, expires: start + 60, state: .waiting))
            }
        }
        for _ in 0..<2 { try await test.service.performMaintenance(of: TestOrganisation.tenant) }
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(WaitingChange.self) }
        #expect(left.map(\.id) == ["hidden"])
        let ended = try await test.records().filter { $0.action == "change.expire" }
        #expect(Set(ended.map(\.target)).count == Upkeep.most + 1 && ended.count == Upkeep.most + 1)
    }

    @Test func `more than one transaction has of them are ended, some at a time`() async throws {
        let test = try await TestOrganisation.withPeople()
        let (start, count) = (test.clock.now, 2 * Upkeep.most + 5)
        try await test.storage.write(TestOrganisation.tenant) { records in
            for number in 0..<count {
                try records.save(
                    WaitingChange(
                        id: "change-\(number)", digest: "d", action: "a", entity: "e", reach: .nobody, changes: [],
                        wipes: [], requester: .init(id: "x", isProgram: false, client: nil), reason: nil,
                        requested: start, due: nil, expires: start + 60, state: .waiting))
            }
        }
        test.clock.advance(by: 60)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        let all = try await test.storage.read(TestOrganisation.tenant) { try $0.records(WaitingChange.self) }
        #expect(all.count == count && all.allSatisfy { $0.state == .expired })
    }
}
