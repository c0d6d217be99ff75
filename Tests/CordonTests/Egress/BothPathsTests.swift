import Cordon
import CordonIdentity
import CordonPolicy
import Foundation
import Testing

/// The word of the compiled tables and the decision with its reasons, as an app asks for them.
@Suite struct BothPathsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors/policy/scenarios")
    private static let scenarios =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".json") }
        .sorted()

    private static let permitActions: Set<Action> = [.saveTo, .send, .copy, .print, .openURL, .openUniversalLink]

    private static func scenario(_ name: String) throws -> PolicyScenario {
        try PolicyScenario(json: JSONValue(parsing: Data(contentsOf: folder.appending(path: name))))
    }

    /// Every question of every scenario: as it stands, and with the facts left for Cordon to complete.
    private static func questions() throws -> [Question] {
        try scenarios.flatMap { name in
            try scenario(name).expectations.flatMap { expectation in
                let asked = try Question(json: expectation.question)
                var incomplete = asked
                incomplete.device = .unknown
                return [asked, incomplete]
            }
        }
    }

    @Test(arguments: [false, true])
    func `the quick verdict, the decision with its reasons and the permit say the same to every question`(
        webViewsAreUnmanaged: Bool
    ) async throws {
        let questions = try Self.questions()
        try #require(Self.scenarios.count >= 27 && questions.count >= 2 * Self.scenarios.count)
        let time = TestTime()
        var (enrolled, denied, permitted) = (0, 0, 0)
        for name in Self.scenarios {
            guard case .inline(.object(let rules))? = try Self.scenario(name).policies["oid-a"] else { continue }
            let device = try Device(time: time, inMemory: true)
            await device.setServiceClock()
            try await device.publish(rules)
            let protection = try await device.start { $0.settings.treatsWebViewsAsUnmanaged = webViewsAreUnmanaged }
            // Rules that wipe this app's version leave nothing to ask about.
            guard await protection.enroll(device.account) == .newPolicies else { continue }
            enrolled += 1
            for question in questions {
                let verdict = protection.rules.verdict(for: question)
                let decision = protection.rules.decision(for: question)
                #expect(verdict == decision.verdict, "\(name): \(question.json.text())")
                #expect(verdict.permits || !decision.reasons.isEmpty, "\(name): \(question.json.text())")
                do {
                    let permit = try protection.rules.permit(for: question)
                    #expect(permit.decision.verdict == verdict && verdict.permits, "\(name): \(question.json.text())")
                    permitted += 1
                } catch {
                    if verdict.permits, !Self.permitActions.contains(question.action) {
                        #expect(error.code == .noPermit, "\(name): \(question.json.text())")
                    } else {
                        #expect(error.denial?.verdict.permits == false, "\(name): \(question.json.text())")
                    }
                }
                if !verdict.permits { denied += 1 }
            }
        }
        #expect(enrolled > 20, "\(enrolled) enrolled")
        #expect(denied > 100 && permitted > 100, "too few of one kind: \(denied) denied, \(permitted) permitted")
    }

    @Test(arguments: [false, true])
    func `the quick verdict knows accounts by every name, those without rules, and lost work as the decision does`(
        secondHasRules: Bool
    ) async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        let protection = try await two.enrolled(
            on: device,
            [
                "allowedOutboundDataTransferDestinations": "managedApps", "saveAsBlocked": true,
                "allowedDataStorageLocations": ["box"], "allowedOutboundClipboardSharingLevel": "managedApps",
                "managedUniversalLinks": ["https://wiki.example"],
            ], ["allowedInboundDataTransferSources": "none", "blockDataIngestionIntoOrganizationDocuments": true])
        if !secondHasRules {
            await two.second.set { $0.policy = nil }
            #expect(await protection.checkIn("oid-b") == .noPolicyTargeted)
        }
        let names: [AccountID] = [
            "oid-a", "OID-A", "worker-a@contoso.example", "oid-b", "Worker-B@contoso.example", "oid-unknown", "",
        ]
        let owners: [EffectiveIdentity] = [.personal, .unset, .lost] + names.map { .managed($0) }
        let peers: [Peer?] = [nil, .personal, .unmanagedApp, .exemptApp] + names.map { .managed($0) }
        var questions: [Question] = []
        for owner in owners {
            for action in [Action.send, .receive, .copy, .paste, .print, .openUniversalLink] {
                for peer in peers {
                    var question = Question(action, owner: owner)
                    (question.peer, question.url) = (peer, "https://wiki.example/page")
                    questions.append(question)
                }
            }
            for action in [Action.saveTo, .openFrom] {
                for location in [Location.box, .localDrive, .localStorage] {
                    for account in [nil] + names.map(Optional.some) {
                        var question = Question(action, owner: owner)
                        (question.location, question.locationAccount) = (location, account)
                        questions.append(question)
                    }
                }
            }
        }
        var permitted = 0
        for question in questions {
            let verdict = protection.rules.verdict(for: question)
            #expect(verdict == protection.decision(for: question).verdict, "\(question.json.text())")
            if verdict.permits { permitted += 1 }
        }
        #expect(permitted > 100 && questions.count - permitted > 100, "\(permitted) of \(questions.count)")
    }
}
