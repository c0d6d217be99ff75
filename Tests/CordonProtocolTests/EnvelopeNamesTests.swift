import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// One thing has one name on both sides; the names of release 0.1 are written and read for one release more.
@Suite struct EnvelopeNamesTests {
    private static let former = [
        "tenant": "tid", "registrationID": "rid", "account": "oid", "bundleID": "bundleId", "sequence": "seq",
    ]

    private let envelope = PolicyEnvelope(
        tenant: TenantID("contoso"), registrationID: "r", account: "a", bundleID: "org.example", sequence: 7,
        version: "v",
        nonce: "n", issuedAt: 1, expiresAt: 2, policy: nil, configurations: [["key": "value"]])

    private func members() throws -> [String: JSONValue] {
        try #require(try JSONValue(parsing: MessageCoding.encode(envelope)).object)
    }

    private func read(_ members: [String: JSONValue]) throws -> PolicyEnvelope {
        try MessageCoding.read(PolicyEnvelope.self, from: Data(JSONValue.object(members).text().utf8))
    }

    @Test func `an envelope says each name twice, and either alone is read`() throws {
        let members = try members()
        for (name, formerName) in Self.former { #expect(members[name] == members[formerName] && members[name] != nil) }
        #expect(try read(members) == envelope)
        #expect(try read(members.filter { !Self.former.values.contains($0.key) }) == envelope)
        // What release 0.1 wrote, and a device has stored.
        #expect(try read(members.filter { Self.former[$0.key] == nil }) == envelope)
    }

    @Test(arguments: former.keys.sorted())
    func `two names of one thing that differ are refused, and so is neither`(_ name: String) throws {
        var members = try members()
        let formerName = try #require(Self.former[name])
        members[formerName] = name == "sequence" ? 8 : "another"
        #expect(throws: ProtocolError(.malformed, "")) { try read(members) }
        members[formerName] = nil
        members[name] = nil
        #expect(throws: ProtocolError(.malformed, "")) { try read(members) }
    }

    @Test func `a problem names its trace in both ways, and either alone is read`() throws {
        let problem = ProblemDetails(title: "t", status: 400, traceID: "x")
        var members = try #require(try JSONValue(parsing: MessageCoding.encode(problem)).object)
        #expect(members["traceID"] == "x" && members["traceId"] == "x")
        members["traceID"] = nil
        let bytes = Data(JSONValue.object(members).text().utf8)
        #expect(try MessageCoding.decode(ProblemDetails.self, from: bytes) == problem)
    }
}
