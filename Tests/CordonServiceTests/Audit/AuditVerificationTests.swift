import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-092: the exported log is checked offline; every change to it is found.
struct AuditVerificationTests {
    /// A log with a policy, a registration, a wipe with its receipt and some more.
    private func story() async throws -> TestOrganisation {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        try await app.wipe()
        _ = await failure {
            try await test.service.administration.blockUser("oid-ben", as: test.administrator(.reader))
        }
        return test
    }

    private func verify(
        _ lines: [String], pin: String? = nil, earlier: [AuditCheckpoint] = []
    ) -> AuditReport {
        var verifier = AuditLogVerifier(pin: pin, earlier: earlier)
        for line in lines { verifier.read(line) }
        return verifier.report()
    }

    private func codes(_ lines: [String], pin: String? = nil, earlier: [AuditCheckpoint] = []) -> Set<AuditFault.Code> {
        Set(verify(lines, pin: pin, earlier: earlier).faults.map(\.code))
    }

    @Test func `a sound log is found sound, with its receipts and its root`() async throws {
        let test = try await story()
        let lines = try await test.export()
        let pin = try await test.service.devices.discoveryFacts(of: TestOrganisation.tenant).rootKeyThumbprint
        let report = verify(lines, pin: pin)
        #expect(report.faults == [] && report.isSound)
        #expect(report.records == lines.count - 1 && report.receipts == 1)
        #expect(report.isPinned && report.rootKeyThumbprint == pin)
        #expect(report.checkpoint?.sequence == Int64(report.records))
        #expect(!verify(lines).isPinned)
    }

    @Test func `another root than the pinned one is found`() async throws {
        let lines = try await story().export()
        #expect(codes(lines, pin: SoftwareSigningKey().publicKey.thumbprint) == [.wrongSeal])
    }

    @Test func `an edit of any member of any record is found`() async throws {
        let lines = try await story().export()
        for index in lines.indices.dropLast() {
            let members = try #require(try JSONValue(parsing: .init(lines[index].utf8)).object)
            for name in members.keys {
                var edited = members
                switch members[name] {
                case .integer(let number): edited[name] = .integer(number + 1)
                case .string(let text): edited[name] = .string(name == "outcome" ? "failed" : "x" + text)
                case .object(var inner):
                    inner[name == "actor" ? "id" : "extra"] = "x"
                    edited[name] = .object(inner)
                default: continue
                }
                var changed = lines
                changed[index] = JSONValue.object(edited).text()
                #expect(!verify(changed).isSound, "line \(index), \(name)")
            }
        }
    }

    @Test func `an edit with its hash made good again is found by the next record or the checkpoint`() async throws {
        let lines = try await story().export()
        for index in lines.indices.dropLast() {
            var record = try AuditRecord(line: lines[index])
            record.details["extra"] = "x"
            record.hash = record.expectedHash
            var changed = lines
            changed[index] = record.line
            #expect(!codes(changed).isDisjoint(with: [.broken, .truncated]), "line \(index)")
        }
    }

    @Test func `an added member or another spelling of a line is found`() async throws {
        let lines = try await story().export()
        for change in [
            lines[2].replacing(#"{"action""#, with: #"{"aaa":1,"action""#), lines[2].replacing(#":""#, with: #": ""#),
            lines[2] + " ", "", "not json",
        ] {
            var changed = lines
            changed[2] = change
            #expect(codes(changed).contains(.unreadable))
        }
    }

    @Test func `removal, addition and reordering are found at every place`() async throws {
        let lines = try await story().export()
        for index in lines.indices.dropLast() {
            var removed = lines
            removed.remove(at: index)
            #expect(!codes(removed).isDisjoint(with: [.broken, .truncated]), "removed \(index)")
            var doubled = lines
            doubled.insert(lines[index], at: index)
            #expect(codes(doubled).contains(.broken), "doubled \(index)")
            guard index + 1 < lines.count - 1 else { continue }
            var swapped = lines
            swapped.swapAt(index, index + 1)
            #expect(codes(swapped).contains(.broken), "swapped \(index)")
        }
    }

    @Test func `a cut log is found by its checkpoint, by the missing one, or by an earlier one`() async throws {
        let test = try await story()
        let first = try await test.export()
        let head = try #require(verify(first).checkpoint)
        var cut = first
        cut.remove(at: cut.count - 2)
        #expect(codes(cut).contains(.truncated))
        #expect(codes(Array(first.dropLast())) == [.unsealed])
        let second = try await test.export()
        let newer = try #require(verify(second).checkpoint)
        #expect(verify(second, earlier: [head]).isSound)
        #expect(codes(first, earlier: [newer]) == [.truncated])
    }

    @Test func `a fork is found by an earlier checkpoint`() async throws {
        let keyStore = InMemoryServiceKeyStore()
        let trunk = try await TestOrganisation(keyStore: keyStore)
        let branch = InMemoryStorage()
        let keys = try await trunk.service.administration.signingKeys(as: trunk.owner)
        let records = try await trunk.records()
        try await branch.write(TestOrganisation.tenant) { transaction in
            for key in keys { try transaction.save(key) }
            for record in records { try transaction.append(record) }
        }
        let fork = try await TestOrganisation(storage: branch, keyStore: keyStore)
        try await trunk.service.provisioning.saveGroup(DirectoryGroup(id: "a", displayName: "A"), as: trunk.owner)
        try await fork.service.provisioning.saveGroup(DirectoryGroup(id: "b", displayName: "B"), as: fork.owner)
        let known = try #require(verify(try await trunk.export()).checkpoint)
        let other = try await fork.export()
        #expect(verify(other).isSound)
        #expect(codes(other, earlier: [known]) == [.forked])
    }

    @Test func `a checkpoint that somebody else signed is found`() async throws {
        let test = try await story()
        var lines = try await test.export()
        let seal = try MessageCoding.decode(AuditSeal.self, from: .init(lines[lines.count - 1].utf8))
        let last = try AuditRecord(line: lines[lines.count - 2])
        let forged = try AuditCheckpoint(of: last, tenant: last.tenant, time: 1).signed(by: SoftwareSigningKey())
        lines[lines.count - 1] = try AuditSeal(checkpoint: forged, keys: seal.keys).line()
        #expect(codes(lines) == [.wrongSeal])
    }

    @Test func `a wipe without a true receipt is found, though the chain is whole`() async throws {
        let test = try await story()
        let lines = try await test.export()
        let records = try lines.dropLast().map { line in try AuditRecord(line: line) }
        let stranger = SoftwareSigningKey()
        let changes: [(String, (inout [String: String]) throws -> Void)] = [
            ("wipe.succeeded", { $0["receipt"] = nil }),
            ("wipe.succeeded", { $0["receipt"] = "not.a.jws" }),
            ("wipe.succeeded", { $0["registration"] = "another" }),
            (
                "wipe.succeeded",
                { $0["key"] = String(decoding: try MessageCoding.encode(stranger.publicKey), as: UTF8.self) }
            ),
            ("registration.create", { $0["keyThumbprint"] = stranger.publicKey.thumbprint }),
        ]
        for (action, change) in changes {
            var verifier = AuditLogVerifier()
            var last: AuditRecord?
            for record in records {
                var details = record.details
                if record.action == action { try change(&details) }
                let next = AuditRecord(
                    after: last, tenant: record.tenant, time: record.time, actor: record.actor, action: record.action,
                    target: record.target, outcome: record.outcome, details: details)
                verifier.read(next.line)
                last = next
            }
            #expect(verifier.report().faults.contains { $0.code == .wrongReceipt })
            #expect(verifier.report().receipts == 0)
        }
    }

    @Test func `the largest number a record can have is a fault and no end of the check`() throws {
        func line(_ sequence: Int64) -> String {
            var record = AuditRecord(
                after: nil, tenant: TestOrganisation.tenant, time: 1, actor: .init(.service, id: "s"), action: "a",
                target: "t")
            record.sequence = sequence
            record.hash = record.expectedHash
            return record.line
        }
        for sequence in [Int64.max, .min, 0, -1] {
            #expect(codes([line(sequence), line(sequence)]).contains(.broken))
            let last = try AuditRecord(line: line(sequence))
            let next = AuditRecord(
                after: last, tenant: last.tenant, time: 1, actor: last.actor, action: "a", target: "t")
            #expect(!last.follows(nil))
            #expect(next.follows(last) == (sequence == 0))
        }
    }

    @Test func `earlier checkpoints stay checkable after the key that signed them was retired`() async throws {
        let test = try await story()
        _ = try await test.export()
        _ = try await test.service.administration.rotateSigningKey(activeFrom: test.clock.now, as: test.owner)
        test.clock.advance(by: 400 * 86_400)
        let report = verify(try await test.export())
        #expect(report.faults == [])
    }

    @Test func `an export vouches for no key as the app's key set does, and never for one that leaked`() async throws {
        let test = try await story()
        let tenant = TestOrganisation.tenant
        let pin = try await test.service.devices.discoveryFacts(of: tenant).rootKeyThumbprint
        let leaked = try await test.service.devices.keySet(of: tenant).keys
        _ = try await test.service.administration.rotateSigningKey(activeFrom: test.clock.now, as: test.owner)
        let lines = try await test.export()
        let seal = try MessageCoding.decode(AuditSeal.self, from: .init(lines[lines.count - 1].utf8))
        #expect(Set(leaked.map(\.keyID)).isDisjoint(with: seal.keys.keys.map(\.keyID)))
        // As an app does that is given these for the service's own.
        #expect(throws: ProtocolError(.unsupported, "")) { try seal.keys.verified(pin: pin, at: test.clock.now) }
        #expect(throws: ProtocolError(.unsupported, "")) { try seal.keys.verified(pin: pin, at: .distantPast) }
        #expect(verify(lines, pin: pin).isSound)
        let published = try await test.service.devices.keySet(of: tenant).verified(pin: pin, at: test.clock.now)
        #expect(published.keys.count == 1 && !leaked.contains(published.keys[0]))
    }

    @Test(arguments: [(-1.0, true), (0, false)])
    func `an export from before checkpoint keys had a set of their own is still read, and no later one`(
        offset: TimeInterval, isSound: Bool
    ) async throws {
        let test = try await story()
        var lines = try await test.export()
        let last = try AuditRecord(line: lines[lines.count - 2])
        let (root, key) = (SoftwareSigningKey(), SoftwareSigningKey())
        let made = Date(timeIntervalSince1970: 1_798_761_600 + offset)
        let set = try SignedKeySet([key.publicKey], validFrom: made, until: made + 60, root: root)
        let checkpoint = try AuditCheckpoint(of: last, tenant: last.tenant, time: 1).signed(by: key)
        lines[lines.count - 1] = try AuditSeal(checkpoint: checkpoint, keys: set).line()
        let report = verify(lines, pin: root.publicKey.thumbprint)
        #expect(report.isSound == isSound && report.isPinned == isSound)
        #expect(codes(lines, pin: SoftwareSigningKey().publicKey.thumbprint) == [.wrongSeal])
    }

    @Test func `every administrative write leaves one record with who and what`() async throws {
        let test = try await story()
        let records = try await test.records()
        let actions = Set(records.map(\.action))
        #expect(
            actions.isSuperset(of: [
                "key.create", "user.save", "group.save", "policy.create", "policy.targetApps", "policy.assign",
                "registration.create", "wipe.request", "wipe.delivered", "wipe.acknowledged", "wipe.succeeded",
                "registration.wiped", "call.refused",
            ]))
        let assign = try #require(records.first { $0.action == "policy.assign" })
        #expect(assign.actor == AuditRecord.Actor(.administrator, id: "owner-1"))
        #expect(assign.target.hasPrefix("policy/T_"))
        #expect(!records.contains { $0.line.contains("ada@contoso") })
    }

    @Test func `pages of the log are bounded`() async throws {
        let test = try await story()
        let page = try await test.service.administration.auditRecords(AuditQuery(after: 2, limit: 3), as: test.owner)
        #expect(page.map(\.sequence) == [3, 4, 5])
        for limit in [0, 1001] {
            #expect(
                await failure {
                    _ = try await test.service.administration.auditRecords(AuditQuery(limit: limit), as: test.owner)
                }?
                .code == .invalid)
        }
    }
}
