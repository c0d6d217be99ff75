import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SDK-NA-04, SDK-NA-05: an app for one account gets the answers about places that one for several gets.
@Suite struct PlaceTests {
    private static let rules: [String: JSONValue] = [
        "saveAsBlocked": .bool(true), "allowedDataStorageLocations": .array([.string("box")]),
    ]

    /// The verdicts for every place and every way to name its account, or none.
    private static func verdicts(single: Bool) async throws -> [String: Verdict] {
        let device = try Device()
        try await device.publish(rules)
        let protection = try await device.start { $0.allowsSeveralIdentities = !single }
        guard await protection.enroll(device.account) == .newPolicies else { exit(99) }
        if single, await protection.primaryAccount != "oid-a" { exit(98) }
        let accounts: [AccountID?] = ["oid-a", "worker-a@contoso.example", "oid-stranger", nil]
        var verdicts: [String: Verdict] = [:]
        for location in Location.allCases where location.saveNumber != nil {
            for account in accounts {
                var question = Question(.saveTo, owner: .managed("oid-a"))
                question.location = location
                question.locationAccount = account
                verdicts["\(location) \(account?.rawValue ?? "nobody")"] = protection.decision(for: question).verdict
            }
        }
        return verdicts
    }

    /// In a process of its own, because an app for one account declares the identity of its whole process.
    @Test func `a save question has the same verdict in an app for one account and in one for several`() async {
        await #expect(processExitsWith: .success) {
            let several = try await Self.verdicts(single: false)
            let single = try await Self.verdicts(single: true)
            let held = [
                several == single, Set(several.values).count > 1,
                single["box oid-a"] == .allow, single["box worker-a@contoso.example"] == .allow,
                single["localDrive nobody"] == .block,
            ]
            exit(Int32(held.firstIndex(of: false).map { $0 + 1 } ?? 0))
        }
    }
}
