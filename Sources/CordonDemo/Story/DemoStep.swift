public import CordonPolicy

/// One step of the demo as it went: what was expected, what was measured, how long it took.
public struct DemoStep: Sendable, Codable, Equatable {
    /// Something that had to hold.
    public struct Expectation: Sendable, Codable, Equatable {
        /// What had to hold.
        public let what: String
        /// Whether it did.
        public let held: Bool
        /// What was seen.
        public let seen: String
    }

    /// The step's name, for scripts.
    public let name: String
    /// What the step shows, for people.
    public let title: String
    /// Everything that had to hold, in order.
    public var expectations: [Expectation] = []
    /// What was measured.
    public var facts: [String: JSONValue] = [:]
    /// How long the step took, in milliseconds.
    public var milliseconds = 0.0

    /// Whether everything held: `pass` or `fail`.
    public var verdict: String { expectations.allSatisfy(\.held) ? "pass" : "fail" }

    private enum CodingKeys: String, CodingKey {
        case name, title, verdict, expectations, facts, milliseconds
    }

    init(_ name: String, _ title: String) {
        self.name = name
        self.title = title
    }

    /// Reads a step; the verdict follows from the expectations.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decode(String.self, forKey: .name)
        title = try members.decode(String.self, forKey: .title)
        expectations = try members.decode([Expectation].self, forKey: .expectations)
        facts = try members.decode([String: JSONValue].self, forKey: .facts)
        milliseconds = try members.decode(Double.self, forKey: .milliseconds)
    }

    /// Writes a step with its verdict.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(name, forKey: .name)
        try members.encode(title, forKey: .title)
        try members.encode(verdict, forKey: .verdict)
        try members.encode(expectations, forKey: .expectations)
        try members.encode(facts, forKey: .facts)
        try members.encode(milliseconds, forKey: .milliseconds)
    }

    /// Notes an expectation with what was seen.
    mutating func expect(_ what: String, _ held: Bool, seen: String) {
        expectations.append(Expectation(what: what, held: held, seen: seen))
    }

    /// Notes that two values had to be equal.
    mutating func expect<Value: Equatable & Sendable>(_ what: String, _ value: Value?, is expected: Value) {
        expect(what, value == expected, seen: value.map { "\($0)" } ?? "nothing")
    }
}
