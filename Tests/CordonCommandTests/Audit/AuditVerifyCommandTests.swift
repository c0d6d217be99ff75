import ArgumentParser
import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// `cordon audit verify`: what an insider does to a log is found, and the exit status says so.
@Suite struct AuditVerifyCommandTests {
    private static let tenant = TenantID("contoso")
    private static let owner = Administrator(tenant: tenant, id: "owner", name: "Owner", roles: [.owner])

    private func service() async throws -> ManagementService {
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await service.open(Self.tenant)
        return service
    }

    private func write(_ count: Int, from first: Int = 0, to service: ManagementService) async throws {
        for number in first..<first + count {
            try await service.provisioning.saveUser(
                DirectoryUser(
                    id: "oid-\(number)", userPrincipalName: "p\(number)@contoso.example", displayName: "P"),
                as: Self.owner)
        }
    }

    private func export(_ service: ManagementService) async throws -> [String] {
        var bytes = Data()
        for try await piece in try await service.administration.exportAudit(as: Self.owner) { bytes += piece }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func status(
        _ lines: [String], _ options: [String] = [], against earlier: [String]? = nil
    ) async throws -> CordonCommand.ExitStatus {
        try await withServeFolder { folder in
            var words = options
            let file = folder.appending(path: "audit.jsonl")
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
            if let earlier {
                let old = folder.appending(path: "earlier.jsonl")
                try Data((earlier.joined(separator: "\n") + "\n").utf8).write(to: old)
                words += ["--against", old.path]
            }
            let command = try AuditVerifyCommand.parse([file.path, "--json"] + words)
            do {
                try await command.run()
                return .done
            } catch let failure as CommandFailure {
                return failure.status
            }
        }
    }

    @Test func `a sound log is sound, also against its root key and an earlier export`() async throws {
        let service = try await service()
        try await write(5, to: service)
        let earlier = try await export(service)
        try await write(5, from: 5, to: service)
        let lines = try await export(service)
        let pin = try await service.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
        #expect(try await status(lines, ["--root-key", pin], against: earlier) == .done)
    }

    @Test func `an edit, a removal, a swap and a cut are found`() async throws {
        let service = try await service()
        try await write(6, to: service)
        let lines = try await export(service)
        var edited = lines
        edited[3] = edited[3].replacing("oid-", with: "oid-x")
        var removed = lines
        removed.remove(at: 3)
        var swapped = lines
        swapped.swapAt(3, 4)
        let cut = Array(lines.dropLast(3)) + [lines[lines.count - 1]]
        for (name, changed) in [("edited", edited), ("removed", removed), ("swapped", swapped), ("cut", cut)] {
            #expect(changed != lines)
            #expect(try await status(changed) == .notInWantedState, "\(name)")
        }
    }

    private func hint(_ lines: [String], _ options: [String] = []) async throws -> String? {
        try await withServeFolder { folder in
            let file = folder.appending(path: "audit.jsonl")
            try Data(lines.joined(separator: "\n").utf8).write(to: file)
            let command = try AuditVerifyCommand.parse([file.path, "--json"] + options)
            do {
                try await command.run()
                return nil
            } catch let failure as CommandFailure {
                return failure.hint
            }
        }
    }

    @Test func `a torn download, another pin and a changed log are told apart`() async throws {
        let service = try await service()
        try await write(6, to: service)
        let lines = try await export(service)
        let torn = Array(lines.dropLast(2)) + [String(lines[lines.count - 2].prefix(40))]
        #expect(try await hint(torn)?.contains("breaks off") == true)
        #expect(try await hint(Array(lines.dropLast()))?.contains("breaks off") == true)
        let other = try await self.service().devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
        #expect(try await hint(lines, ["--pin", other])?.contains("Compare --root-key") == true)
        var edited = lines
        edited[3] = edited[3].replacing("oid-", with: "oid-x")
        #expect(try await hint(edited)?.contains("was changed") == true)
        #expect(try await status(lines, ["--root-key", "AAAA"]) == .usage)
    }

    @Test func `an exported history is verified with the lines before the log`() async throws {
        let service = try await service()
        try await write(3, to: service)
        var bytes = Data()
        for try await piece in try await service.administration.history.export(as: Self.owner) { bytes += piece }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let pin = try await service.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
        #expect(lines[0].contains(#""type":"history""#))
        #expect(try await status(lines, ["--pin", pin]) == .done)
        var forged = lines
        forged[0] = forged[0].replacing("mostRestrictive", with: "other")
        #expect(forged != lines)
        #expect(try await status(forged, ["--pin", pin]) == .notInWantedState)
        #expect(try await status(Array(lines.dropFirst()), ["--pin", pin]) == .notInWantedState)
    }

    @Test func `a record is shown in one line, with its time, its actor and what it says`() throws {
        let record = AuditRecord(
            after: nil, tenant: Self.tenant, time: 1_772_528_400, actor: .init(.administrator, id: "oid-ada"),
            action: "policy.update", target: "policy/T_1", details: ["reason": "the new printer", "version": "v2"])
        #expect(
            AuditShowCommand.text(of: record)
                == "2026-03-03T09:00:00Z #1 policy.update policy/T_1 done by administrator oid-ada; "
                + "reason: the new printer; version: v2")
    }

    @Test func `a change is shown member by member, and neither JSON nor a signature in full`() {
        func shown(_ details: [String: String]) -> String {
            AuditShowCommand.text(
                of: AuditRecord(
                    after: nil, tenant: Self.tenant, time: 1_772_528_400, actor: .init(.administrator, id: "oid-ada"),
                    action: "policy.update", target: "policy/T_1", details: details))
        }
        let change =
            #"[{"direction":"stricter","from":false,"member":"printBlocked","to":true},{"member":"description","to":""},"#
            + #"{"from":["a"],"member":"managedUniversalLinks"},{"member":"displayName","to":"Pilot"}]"#
        #expect(
            shown(["change": change]).hasSuffix(
                "; change: printBlocked false → true (stricter), "
                    + #"managedUniversalLinks ["a"] → removed, displayName Pilot"#))
        let many = (0..<70).map { #"{"from":0,"member":"m\#($0)","to":1}"# }.joined(separator: ",")
        #expect(shown(["change": "[\(many)]"]).hasSuffix("m11 0 → 1, and 58 more"))
        #expect(shown(["checkpoint": "eyJhbGciOiJFUzI1NiJ9.e30.AAAA"]).hasSuffix("; checkpoint: signed"))
    }

    @Test(arguments: [
        (["--about", "user/oid-1"], 1), (["--about", "oid-1"], 1), (["--by", "OWNER"], 3), (["--action", "user."], 3),
        (["--action", "user.", "--since", "2020-01-01"], 3), (["--until", "2020-01-01"], 0),
    ])
    func `records are chosen by what they are about, who acted, and when`(
        _ options: [String], _ count: Int
    ) async throws {
        let service = try await service()
        try await write(3, to: service)
        let records = try await export(service).dropLast().map { try AuditRecord(line: $0) }
        let command = try AuditShowCommand.parse(["-"] + options)
        #expect(records.count { command.matches($0) } == count)
    }

    @Test func `a fork that is sound in itself is found against an earlier export`() async throws {
        // An insider who can write everything starts again from nothing and tells another story.
        func told(_ names: [Int]) async throws -> [String] {
            let service = ManagementService(
                storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await service.open(Self.tenant)
            for name in names { try await write(1, from: name, to: service) }
            return try await export(service)
        }
        let truth = try await told([0, 1, 2])
        let fork = try await told([0, 7, 2, 3])
        #expect(try await status(fork) == .done)
        #expect(try await status(fork, against: truth) == .notInWantedState)
    }

    @Test func `another root key and a file that is not a log are told apart`() async throws {
        let service = try await service()
        try await write(1, to: service)
        let other = try await self.service().devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
        #expect(try await status(try await export(service), ["--pin", other]) == .notInWantedState)
        #expect(try await status(["not a log"]) != .done)
        #expect(try await status([]) == .badInput)
    }
}
