internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import Crypto
internal import Foundation

extension AuditRecord {
    /// Makes the record that follows another, hash included.
    ///
    /// - Parameter previous: The newest record of the log, nil in an empty one.
    public init(
        after previous: AuditRecord?, tenant: TenantID, time: Int64, actor: Actor, action: String, target: String,
        outcome: Outcome = .done, details: [String: String] = [:]
    ) {
        self.init(
            sequence: (previous?.sequence ?? 0) &+ 1, tenant: tenant, time: time, actor: actor, action: action,
            target: target, outcome: outcome, details: details, previousHash: previous?.hash ?? Self.noHash, hash: "")
        hash = expectedHash
    }

    /// The hash that the record's other members have: SHA-256 over their canonical JSON text.
    public var expectedHash: String {
        SHA256.hash(data: Data(JSONValue.object(membersWithoutHash).text().utf8)).hex
    }

    /// Whether the record is sound and stands right after another, or at the beginning where that is nil.
    public func follows(_ previous: AuditRecord?) -> Bool {
        isNumbered(after: previous) && previousHash == (previous?.hash ?? Self.noHash)
            && (previous.map { $0.tenant == tenant } ?? true) && hash == expectedHash
    }

    /// Whether the record's number is the next one; no number that an export brings can be too large to ask.
    func isNumbered(after previous: AuditRecord?) -> Bool {
        sequence > 0 && sequence - 1 == previous?.sequence ?? 0
    }

    /// The record as one line of an export: JSON with sorted names and no spaces, without the line feed.
    public var line: String {
        var members = membersWithoutHash
        members["hash"] = .string(hash)
        return JSONValue.object(members).text()
    }

    /// Reads a line of an export.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed` unless the line is exactly what ``line`` writes: a further
    ///   member or another spelling is a change.
    public init(line text: String) throws(ProtocolError) {
        guard let members = (try? JSONValue(parsing: Data(text.utf8)))?.object,
            let sequence = members["sequence"]?.integer, let time = members["time"]?.integer,
            let tenant = members["tenant"]?.string, let actor = members["actor"],
            let kind = actor["kind"]?.string.flatMap(Actor.Kind.init), let actorID = actor["id"]?.string,
            let action = members["action"]?.string, let target = members["target"]?.string,
            let outcome = members["outcome"]?.string.flatMap(Outcome.init),
            let details = members["details"]?.object, let previousHash = members["previousHash"]?.string,
            let hash = members["hash"]?.string
        else { throw ProtocolError(.malformed, "the line is not an audit record") }
        self.init(
            sequence: sequence, tenant: TenantID(tenant), time: time, actor: Actor(kind, id: actorID), action: action,
            target: target, outcome: outcome, details: details.compactMapValues(\.string), previousHash: previousHash,
            hash: hash)
        guard line == text else { throw ProtocolError(.malformed, "the audit record is not in its canonical form") }
    }

    private var membersWithoutHash: [String: JSONValue] {
        [
            "sequence": .integer(sequence), "tenant": .string(tenant.rawValue), "time": .integer(time),
            "actor": .object(["kind": .string(actor.kind.rawValue), "id": .string(actor.id)]),
            "action": .string(action), "target": .string(target), "outcome": .string(outcome.rawValue),
            "details": .object(details.mapValues { .string($0) }), "previousHash": .string(previousHash),
        ]
    }
}
