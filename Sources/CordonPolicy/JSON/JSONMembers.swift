/// What is read from the members of a parsed object, one by one.
///
/// It reads what the type's `Decodable` reads. A decoder, though, needs generic types for every type that it reads, and before the first use
/// of each the Swift runtime looks through all conformances of the process; so what an app reads at its start is read in this way.
package protocol JSONReadable {
    /// Reads the members; those that are not asked for are ignored.
    init(_ members: JSONMembers) throws(PolicyError)
}

/// The members of a parsed object, for callers that read them one by one; an error names the member, and never its value.
package struct JSONMembers: Sendable {
    private let members: [String: JSONValue]

    /// Takes the members of an object; any other value is refused.
    package init(_ value: JSONValue) throws(PolicyError) {
        guard case .object(let members) = value else { throw .wrong(value, needed: "an object") }
        self.members = members
    }

    /// The object itself.
    package var object: JSONValue { .object(members) }

    /// Whether there is such a member, be it only `null`.
    package func holds(_ name: String) -> Bool { members[name] != nil }

    /// A member; nil where there is none, which `null` stands for too.
    package subscript(name: String) -> JSONValue? {
        guard let value = members[name], value != .null else { return nil }
        return value
    }

    /// A member that has to be there.
    package func value(_ name: String) throws(PolicyError) -> JSONValue {
        guard let value = self[name] else { throw PolicyError(.missingField, "is missing", at: name) }
        return value
    }

    /// A member that has to be there, be it `null`.
    package func present(_ name: String) throws(PolicyError) -> JSONValue {
        guard let value = members[name] else { throw PolicyError(.missingField, "is missing", at: name) }
        return value
    }

    /// A text.
    package func text(_ name: String) throws(PolicyError) -> String { try Self.text(try value(name), name) }

    /// A text, nil where there is none.
    package func optionalText(_ name: String) throws(PolicyError) -> String? {
        guard let value = self[name] else { return nil }
        return try Self.text(value, name)
    }

    /// A whole number.
    package func number(_ name: String) throws(PolicyError) -> Int64 { try Self.number(try value(name), name) }

    /// A whole number, nil where there is none.
    package func optionalNumber(_ name: String) throws(PolicyError) -> Int64? {
        guard let value = self[name] else { return nil }
        return try Self.number(value, name)
    }

    /// A whole number of the machine's size.
    package func count(_ name: String) throws(PolicyError) -> Int {
        guard let count = Int(exactly: try number(name)) else {
            throw PolicyError(.wrongType, "is too large", at: name)
        }
        return count
    }

    /// A truth value.
    package func flag(_ name: String) throws(PolicyError) -> Bool { try Self.flag(try value(name), name) }

    /// A truth value, nil where there is none.
    package func optionalFlag(_ name: String) throws(PolicyError) -> Bool? {
        guard let value = self[name] else { return nil }
        return try Self.flag(value, name)
    }

    /// The values of an array.
    package func values(_ name: String) throws(PolicyError) -> [JSONValue] {
        let value = try value(name)
        guard case .array(let values) = value else { throw PolicyError.wrong(value, needed: "a list").inside(name) }
        return values
    }

    /// An object.
    package func read<Value: JSONReadable>(_ name: String) throws(PolicyError) -> Value {
        try Self.read(try value(name), name)
    }

    /// An object, nil where there is none.
    package func readIfPresent<Value: JSONReadable>(_ name: String) throws(PolicyError) -> Value? {
        guard let value = self[name] else { return nil }
        return try Self.read(value, name)
    }

    /// An array of objects.
    package func list<Value: JSONReadable>(_ name: String) throws(PolicyError) -> [Value] {
        var list: [Value] = []
        for value in try values(name) { list.append(try Self.read(value, name)) }
        return list
    }

    private static func read<Value: JSONReadable>(_ value: JSONValue, _ name: String) throws(PolicyError) -> Value {
        do { return try Value(JSONMembers(value)) } catch { throw error.inside(name) }
    }

    private static func text(_ value: JSONValue, _ name: String) throws(PolicyError) -> String {
        guard let text = value.string else { throw PolicyError.wrong(value, needed: "text").inside(name) }
        return text
    }

    private static func number(_ value: JSONValue, _ name: String) throws(PolicyError) -> Int64 {
        guard let number = value.integer else { throw PolicyError.wrong(value, needed: "a whole number").inside(name) }
        return number
    }

    private static func flag(_ value: JSONValue, _ name: String) throws(PolicyError) -> Bool {
        guard let flag = value.bool else { throw PolicyError.wrong(value, needed: "true or false").inside(name) }
        return flag
    }
}
