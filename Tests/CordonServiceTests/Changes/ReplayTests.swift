import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// A year of changes: every version, every app's rules at any moment and the audit log agree.
@Suite struct ReplayTests {
    /// What a model of the service knows.
    private struct Model {
        /// Every document that a policy had, oldest first, with its version and time.
        var documents: [String: [(version: String, time: Date, printBlocked: Bool)]] = [:]
        /// What each app said that it has in force, oldest first.
        var applied: [String: [(time: Date, policies: Set<PolicyReference>)]] = [:]
    }

    @Test(.seeded(as: 1), arguments: [0, 1, 2] as [UInt64])
    func `versions, rules at random moments and the audit log agree`(_ number: UInt64) async throws {
        var random = SeededGenerator(TestSeed.current &+ number)
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        let start = test.clock.now
        var policies: [ManagedAppPolicy] = []
        for name in ["A", "B"] { policies.append(try await test.protect(name: name, to: .group("staff"))) }
        var apps = [TestApp(test), TestApp(test, user: "ben", tag: "tag-2")]
        var model = Model()
        for policy in policies { model.documents[policy.id] = [(policy.version, test.clock.now, false)] }
        for index in apps.indices { try await apps[index].register() }
        // A little more than a year.
        for step in 0..<400 {
            if step.isMultiple(of: 30) { try await test.service.performMaintenance(of: TestOrganisation.tenant) }
            test.clock.advance(by: Double(Int.random(in: 60...(2 * 86_400), using: &random)))
            let chosen = Int.random(in: 0..<policies.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                let flag = Bool.random(using: &random)
                let before = policies[chosen]
                policies[chosen] = try await admin.updatePolicy(
                    before.id, changes: ["printBlocked": .bool(flag)], ifVersion: nil, as: test.owner)
                if policies[chosen].version != before.version {
                    model.documents[before.id]?.append((policies[chosen].version, test.clock.now, flag))
                }
            case 2:
                let history = model.documents[policies[chosen].id] ?? []
                let back = history[Int.random(in: 0..<history.count, using: &random)]
                let before = policies[chosen]
                policies[chosen] = try await admin.history.putBackPolicy(
                    before.id, version: back.version, ifVersion: nil, as: test.owner)
                if policies[chosen].version != before.version {
                    model.documents[before.id]?.append((policies[chosen].version, test.clock.now, back.printBlocked))
                }
            default:
                let app = Int.random(in: 0..<apps.count, using: &random)
                // The first takes new rules, the second says that it has them.
                for _ in 0..<2 { try await apps[app].checkIn() }
                let now = Set(policies.map(\.reference))
                model.applied[apps[app].registrationID, default: []].append((test.clock.now, now))
            }
        }
        try await compare(model, apps, policies, test, from: start, using: &random)
    }

    private func compare(
        _ model: Model, _ apps: [TestApp], _ policies: [ManagedAppPolicy], _ test: TestOrganisation, from start: Date,
        using random: inout SeededGenerator
    ) async throws {
        let admin = test.service.administration
        for policy in policies {
            let kept = try await admin.history.versions(of: .policy, policy.id, as: test.owner)
            let known = model.documents[policy.id] ?? []
            #expect(kept.prefix(known.count).map(\.version) == known.map(\.version).reversed())
            for entry in known {
                let content = try await admin.history.version(entry.version, of: .policy, policy.id, as: test.owner)
                #expect(
                    content.document?["printBlocked"] == .bool(entry.printBlocked) && content.version.time == entry.time
                )
            }
            // The log tells the same versions with the same times, and what it says changed leads from one to the next.
            let records = try await test.records().filter { $0.target == "policy/\(policy.id)" }
            #expect(records.compactMap { $0.details["version"] } == kept.map(\.version).reversed())
            #expect(records.map { Date(timeIntervalSince1970: Double($0.time)) } == kept.map(\.time).reversed())
            for (index, entry) in known.enumerated().dropFirst() {
                let change = records.first { $0.details["version"] == entry.version }?.details["change"] ?? ""
                #expect(change.contains("\"printBlocked\"") == (known[index - 1].printBlocked != entry.printBlocked))
            }
        }
        let end = test.clock.now
        #expect(end.timeIntervalSince(start) > 366 * 86_400)
        // More than a thousand with all seeds.
        for _ in 0..<340 {
            let app = apps[Int.random(in: 0..<apps.count, using: &random)]
            let time = start + Double.random(in: 0...end.timeIntervalSince(start), using: &random)
            let rules = try await admin.history.rules(ofRegistration: app.registrationID, at: time, as: test.owner)
            let wanted = model.applied[app.registrationID]?.last { $0.time <= time }?.policies
            #expect(
                rules.inForce.map { Set($0.policies.map { PolicyReference(id: $0.id, version: $0.version) }) } == wanted
            )
            let blocked = rules.inForce?.policies.contains { $0.document?["printBlocked"] == true }
            #expect(rules.inForce?.settings?["printBlocked"] == blocked.map(JSONValue.bool))
        }
    }
}
