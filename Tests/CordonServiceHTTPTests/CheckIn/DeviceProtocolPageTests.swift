import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import CordonServiceHTTP

/// `docs/device-protocol.md` and the schemas of `docs/openapi.yaml`, against the code that reads and writes the messages.
@Suite struct DeviceProtocolPageTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    /// A message of the protocol.
    struct Message: Sendable {
        let name: String
        /// The message that this JSON is, as the code writes it; how many of its properties have no value.
        let read: @Sendable (JSONValue) throws -> (written: JSONValue, unset: [String])

        init<Body: Codable & Sendable>(_ type: Body.Type) {
            self.init(type) { try MessageCoding.decode(Body.self, from: $0) }
        }

        init<Body: Encodable & Sendable>(_ type: Body.Type, reading: @escaping @Sendable (Data) throws -> Body) {
            name = "\(type)"
            read = { value in
                let body = try reading(Data(value.text().utf8))
                let unset = Mirror(reflecting: body).children.filter { child in
                    let mirror = Mirror(reflecting: child.value)
                    return mirror.displayStyle == .optional && mirror.children.isEmpty
                }
                return (try JSONValue(parsing: MessageCoding.encode(body)), unset.compactMap(\.label))
            }
        }
    }

    static let messages = [
        Message(ServiceDiscovery.self), Message(SignedKeySet.self), Message(RegistrationRequest.self),
        Message(RegistrationResult.self),
        Message(PolicyEnvelope.self) { try MessageCoding.read(PolicyEnvelope.self, from: $0) },
        Message(CheckInRequest.self),
        Message(CheckInResponse.self), Message(Acknowledgement.self), Message(WipeReceipt.self),
        Message(RemediationRequest.self), Message(ComplianceReport.self), Message(ServiceEvent.self),
        Message(TelemetryBatch.self), Message(RecoveryShare.self), Message(UnenrollmentReport.self),
        Message(ProblemDetails.self), Message(AppEvidence.self), Message(AppEvidenceResult.self),
    ]

    /// The example that the page gives for a message.
    private static func example(_ name: String) throws -> JSONValue {
        let page = try String(contentsOf: root.appending(path: "docs/device-protocol.md"), encoding: .utf8)
        let parts = page.components(separatedBy: "<!-- message: \(name) -->\n```json\n")
        try #require(parts.count == 2, "docs/device-protocol.md has not one example of \(name)")
        return try JSONValue(parsing: Data((parts[1].components(separatedBy: "\n```").first ?? "").utf8))
    }

    @Test func `the page has an example of every message and of nothing else`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/device-protocol.md"), encoding: .utf8)
        let named = page.matches(of: /<!-- message: (\w+) -->/).map { String($0.1) }
        #expect(named.sorted() == Self.messages.map(\.name).sorted())
    }

    @Test(arguments: messages.indices)
    func `an example is read whole, says the same when written, and leaves no member out`(_ index: Int) throws {
        let message = Self.messages[index]
        let example = try Self.example(message.name)
        let (written, unset) = try message.read(example)
        // A policy comes back with every setting that there is.
        #expect(Self.withoutPolicy(written) == Self.withoutPolicy(example), "\(message.name)")
        // What only the device has, or comes in place of something else, has an example all the same.
        #expect(unset == [], "\(message.name)")
    }

    @Test(arguments: messages.indices)
    func `a schema has the members of its message, and needs those that the code needs`(_ index: Int) throws {
        let message = Self.messages[index]
        let example = try Self.example(message.name)
        let schemas = try Schemas(Self.root.appending(path: "docs/openapi.yaml"))
        try check(example, against: message.name, in: schemas, at: []) { path in
            _ = try message.read(Self.removing(path, from: example))
        }
    }

    private static func withoutPolicy(_ value: JSONValue) -> JSONValue {
        guard case .object(var members) = value else { return value }
        if members["policy"]?.object != nil { members["policy"] = ["policy": members["policy"]?["origins"] ?? .null] }
        return .object(members)
    }

    /// Compares an object of an example with a schema, and everything below it that has a schema of its own.
    private func check(
        _ value: JSONValue, against name: String, in schemas: Schemas, at path: [String],
        reading: ([String]) throws -> Void
    ) throws {
        let schema = try #require(schemas[name], "docs/openapi.yaml has no schema \(name)")
        let members = try #require(value.object)
        #expect(Set(schema.properties.keys) == Set(members.keys), "\(name)")
        for (member, content) in members {
            let isNeeded = (try? reading(path + [member])) == nil
            #expect(schema.required.contains(member) == isNeeded, "\(name).\(member) is needed: \(isNeeded)")
            let line = schema.properties[member] ?? ""
            let item = content.array?.first ?? content
            if let reference = line.firstMatch(of: /schemas\/(\w+)'/) {
                let place = path + [member] + (content.array == nil ? [] : ["0"])
                try check(item, against: String(reference.1), in: schemas, at: place, reading: reading)
            } else {
                let type = line.firstMatch(of: /^\{type: (\w+)/).map { String($0.1) }
                #expect(type == Self.type(of: content), "\(name).\(member)")
            }
        }
    }

    private static func type(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .integer, .number: "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    private static func removing(_ path: [String], from value: JSONValue) -> JSONValue {
        guard let first = path.first else { return value }
        if case .array(var items) = value, let index = Int(first) {
            items[index] = removing(Array(path.dropFirst()), from: items[index])
            return .array(items)
        }
        guard case .object(var members) = value else { return value }
        members[first] = path.count == 1 ? nil : members[first].map { removing(Array(path.dropFirst()), from: $0) }
        return .object(members)
    }

    /// The schemas of the document whose properties take a line each.
    private struct Schemas {
        struct Schema {
            var required: Set<String> = []
            var properties: [String: String] = [:]
        }

        private var all: [String: Schema] = [:]

        init(_ file: URL) throws {
            let text = try String(contentsOf: file, encoding: .utf8)
            let section = try #require(text.components(separatedBy: "\n  schemas:\n").last)
            var name = ""
            for line in section.split(separator: "\n") {
                if let found = line.wholeMatch(of: #/    (\w+):/#) { name = String(found.1) }
                if let found = line.wholeMatch(of: #/      required: \[(.*)\]/#) {
                    all[name, default: Schema()].required = Set(found.1.split(separator: ", ").map(String.init))
                }
                if let found = line.wholeMatch(of: #/        (\w+): (\{.*\})/#) {
                    all[name, default: Schema()].properties[String(found.1)] = String(found.2)
                }
            }
        }

        subscript(name: String) -> Schema? { all[name] }
    }
}
