import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// From an export alone another program says which rules an app had when, who made them, what changed and why.
@Suite struct HistoryExportTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Clients/history_reader.py").path

    private static func export(_ test: TestOrganisation, as administrator: Administrator? = nil) async throws -> Data {
        var bytes = Data()
        let pieces = try await test.service.administration.history.export(as: administrator ?? test.owner)
        for try await piece in pieces { bytes += piece }
        return bytes
    }

    /// What the reader answers to questions, each a registration and a time.
    private static func answers(
        _ export: Data, _ questions: [(registration: String, time: Date)]
    ) throws -> (status: Int32, answers: [JSONValue], errors: String) {
        let folder = try TemporaryFolder.make()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "history.jsonl")
        try export.write(to: file)
        let lines = questions.map { "\($0.registration) \($0.time.ISO8601Format())\n" }
        let result = try Program.runPython([script, file.path], input: Data(lines.joined().utf8))
        let answers = try result.text.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        return (result.status, answers, String(decoding: result.errors, as: UTF8.self))
    }

    private func author(_ test: TestOrganisation, _ id: String, because reason: String? = nil) -> Administrator {
        var author = test.owner
        author.id = id
        author.call.reason = reason
        return author
    }

    /// Some weeks of changes by several people; what was asked of two apps in between, some of it never confirmed.
    private func story() async throws -> (TestOrganisation, [TestApp]) {
        let test = try await TestOrganisation.withPeople()
        let administration = test.service.administration
        let first = try await test.protect(name: "A", to: .group("staff"))
        let second = try await test.protect(
            ["managedBrowserToOpenLinksRequired": true], name: "B", to: .group("guests"))
        var apps = [TestApp(test), TestApp(test, user: "ben", tag: "tag-2")]
        for index in apps.indices { try await apps[index].register() }
        for step in 0..<24 {
            test.clock.advance(by: 40_000)
            let admin = self.author(test, "admin-\(step % 3)", because: "step \(step)")
            switch step % 6 {
            case 0, 3:
                _ = try await administration.updatePolicy(
                    first.id, changes: ["printBlocked": .bool(step % 4 == 0), "pinRequired": .bool(step > 9)],
                    ifVersion: nil, as: admin)
            case 1:
                try await test.service.provisioning.changeMembers(
                    ofGroup: "guests", adding: step < 12 ? [.user("oid-ada")] : [],
                    removing: step < 12 ? [] : [.user("oid-ada")], as: admin)
            case 2:
                _ = try await administration.updatePolicy(
                    second.id, changes: ["saveAsBlocked": .bool(step < 12)], ifVersion: nil, as: admin)
            default: break
            }
            test.clock.advance(by: 500)
            // The one takes new rules and says so, the other often takes them alone.
            try await apps[0].checkIn()
            try await apps[0].checkIn()
            if step % 2 == 0 { try await apps[1].checkIn() }
        }
        test.clock.advance(by: 60)
        return (test, apps)
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `an export alone answers as the service does, at many moments`() async throws {
        let start = Date(timeIntervalSince1970: SettableClock().now.timeIntervalSince1970.rounded(.up))
        let (test, apps) = try await story()
        let export = try await Self.export(test)
        let span = Int(test.clock.now.timeIntervalSince(start)) - 1
        let questions = apps.flatMap { app in
            (0..<150).map { (registration: app.registrationID, time: start + Double($0 * span / 150)) }
        }
        let (status, answers, errors) = try Self.answers(export, questions)
        try #require(status == 0 && answers.count == questions.count, "\(errors)")
        var isInForce = 0
        for (question, answer) in zip(questions, answers) {
            let rules = try await test.service.administration.history.rules(
                ofRegistration: question.registration, at: question.time, as: test.owner)
            let wanted = try JSONValue(parsing: try MessageCoding.encode(rules))
            for member in ["registrationID", "at", "inForce", "underWay"] {
                #expect(answer[member] == wanted[member], "\(member) of \(question)")
            }
            if answer["inForce"]?["settings"] != nil { isInForce += 1 }
        }
        // The control: there was something to say.
        #expect(isInForce > 200)
        #expect(Set(answers.compactMap { $0["inForce"]?["policies"]?.text() }).count > 6)
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `an export alone says who changed the rules, what and why, also where a person came into a group`()
        async throws
    {
        let (test, apps) = try await story()
        let end = test.clock.now - 1
        var questions: [(registration: String, time: Date)] = []
        for step in 0..<24 { questions.append((apps[0].registrationID, end - Double(step) * 40_500)) }
        let (status, answers, errors) = try Self.answers(try await Self.export(test), questions)
        try #require(status == 0, "\(errors)")
        let written = answers.flatMap { $0["changes"]?["policies"]?.array ?? [] }
        let change = try #require(
            written.first { $0["reason"] == "step 12" && $0["author"]?["id"] == "admin-0" })
        let members = change["members"]?.array ?? []
        #expect(members.contains(["member": "pinRequired", "from": false, "to": true]))
        #expect(!members.contains { $0["member"] == "displayName" })
        let recorded = answers.flatMap { $0["changes"]?["recorded"]?.array ?? [] }
        for (step, member) in [(1, "addedMembers"), (13, "removedMembers")] {
            #expect(
                recorded.contains {
                    $0["action"] == "group.members" && $0["details"]?[member] == "user/oid-ada"
                        && $0["actor"]?["id"] == "admin-1" && $0["details"]?["reason"] == .string("step \(step)")
                }, "step \(step)")
        }
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `a changed, shortened or completed export is told`() async throws {
        let (test, apps) = try await story()
        let lines = String(decoding: try await Self.export(test), as: UTF8.self)
            .split(separator: "\n").map { String($0) + "\n" }
        let question = [(registration: apps[0].registrationID, time: test.clock.now - 600)]
        func status(_ lines: [String]) throws -> Int32 {
            try Self.answers(Data(lines.joined().utf8), question).status
        }
        #expect(try status(lines) == 0)
        let audit = try #require(lines.firstIndex { $0.hasPrefix(#"{"lines""#) })
        let delivery = try #require(lines.firstIndex { $0.contains(#""type":"delivery""#) })
        let document = try #require(lines.firstIndex { $0.contains(#""type":"document""#) })
        var forged = lines
        forged[delivery] = forged[delivery].replacing(#""sequence":1"#, with: #""sequence":9"#)
        #expect(forged != lines)
        #expect(try status(forged) == 1)
        forged = lines
        forged[document] = forged[document].replacing("@odata", with: "@odatb")
        #expect(forged != lines)
        #expect(try status(forged) == 1)
        forged = lines
        forged.remove(at: delivery)
        #expect(try status(forged) == 1)
        forged = lines
        forged.insert(lines[delivery], at: delivery)
        #expect(try status(forged) == 1)
        forged = lines
        forged.remove(at: audit + 2)
        #expect(try status(forged) == 1)
        #expect(try status(Array(lines.prefix(audit + 5))) == 1)
    }

    @Test func `what stands behind the audit line is an audit log that vouches for the lines before`() async throws {
        let (test, _) = try await story()
        let lines = String(decoding: try await Self.export(test), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        let audit = try #require(lines.firstIndex { $0.contains(#""type":"audit""#) })
        let log = lines[(audit + 1)...]
        let pin = try await test.service.devices.discoveryFacts(of: TestOrganisation.tenant).rootKeyThumbprint
        var verifier = AuditLogVerifier(pin: pin)
        for line in log { verifier.read(line) }
        let report = verifier.report()
        #expect(report.isSound && report.records == log.count - 1)
        let newest = try AuditRecord(line: try #require(log.dropLast().last))
        #expect(newest.action == "history.seal" && newest.details["lines"] == String(audit + 1))
    }

    @Test func `an export holds no secret value, and each document once`() async throws {
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        let configuration = try await admin.createPolicy(
            .targetedManagedAppConfiguration,
            document: [
                "displayName": "C", "customSettings": [["name": "apiPassword", "value": "correct horse battery"]],
            ], as: test.owner)
        for number in 0..<5 {
            _ = try await admin.updatePolicy(
                configuration.id, changes: ["description": .string(number % 2 == 0 ? "x" : "y")], ifVersion: nil,
                as: test.owner)
        }
        test.clock.advance(by: 10)
        let text = String(decoding: try await Self.export(test), as: UTF8.self)
        #expect(text.contains("apiPassword") && text.contains("cordon-secret:"))
        #expect(!text.contains("correct horse battery"))
        let lines = try text.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        let digests = lines.filter { $0["type"] == "document" }.compactMap { $0["digest"]?.string }
        #expect(!digests.isEmpty && Set(digests).count == digests.count)
        let versions = lines.filter { $0["type"] == "version" }.compactMap { $0["digest"]?.string }
        #expect(versions.count > digests.count && Set(versions).isSubset(of: digests))
    }

    @Test func `what is written while an export is read is not in it`() async throws {
        let (test, apps) = try await story()
        let administration = test.service.administration
        let pieces = try await administration.history.export(as: test.owner)
        var text = ""
        var app = apps[0]
        for try await piece in pieces {
            text += String(decoding: piece, as: UTF8.self)
            test.clock.advance(by: 1)
            let policies = try await administration.policies(of: Set(PolicyKind.allCases), as: test.owner)
            _ = try await administration.updatePolicy(
                try #require(policies.first { $0.document["displayName"] == "A" }).id,
                changes: ["description": .string("later \(text.count)")],
                ifVersion: nil, as: test.owner)
            try await app.checkIn()
            try await app.checkIn()
        }
        let ahead = text.split(separator: "\n").prefix { !$0.contains(#""type":"audit""#) }
        #expect(ahead.contains { $0.contains(#""type":"delivery""#) })
        #expect(!ahead.contains { $0.contains("later ") })
        let said = try ahead.map { try JSONValue(parsing: Data($0.utf8)) }
        let until = try #require(said.first?["until"]?.string)
        for member in ["time", "delivered", "applied", "superseded"] {
            let moments = said.compactMap { $0[member]?.string }
            #expect(!moments.isEmpty && moments.allSatisfy { $0 < until }, "\(member)")
        }
    }

    @Test func `only who may read the audit log and every policy exports the history, and both ends are recorded`()
        async throws
    {
        let (test, _) = try await story()
        let reader = test.administrator(.reader)
        #expect(await failure { _ = try await Self.export(test, as: reader) }?.code == .forbidden)
        var limited = reader
        limited.customRoles = [
            CustomRole(
                id: "r", displayName: "R", permissions: [.read, .readAudit], members: ["x"], scopeTags: ["here"])
        ]
        limited.roles = []
        #expect(await failure { _ = try await Self.export(test, as: limited) }?.code == .forbidden)
        let refused = try await test.records().suffix(2)
        #expect(refused.map(\.target) == ["call/exportHistory", "call/exportHistory"])
        _ = try await Self.export(test)
        #expect(try await test.records().suffix(2).map(\.action) == ["history.export", "history.seal"])
    }
}
