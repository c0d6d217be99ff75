internal import CordonIdentity

/// Reads the fields of a question's JSON object, each with its own error.
struct QuestionReader {
    let members: [String: JSONValue]

    init(_ json: JSONValue, _ what: String) throws(PolicyError) {
        guard let members = json.object else { throw PolicyError.wrong(json, needed: "an object").inside(what) }
        self.members = members
    }

    /// Refuses a misspelt member: what it was to say would be left out of the answer.
    ///
    /// A member that is near no known one is of another version, or a remark, and left aside.
    func refuseMisspelt(of known: [String]) throws(PolicyError) {
        for name in members.keys.sorted() {
            guard let meant = MemberSpelling.meant(by: name, among: known) else { continue }
            throw PolicyError(.unknownName, "not known", at: String(name.prefix(64)), hint: "did you mean \(meant)?")
        }
    }

    /// The value of a field; nil when absent or null.
    private func value(_ name: String) -> JSONValue? {
        members[name].flatMap { $0 == .null ? nil : $0 }
    }

    func text(_ name: String) throws(PolicyError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw PolicyError.wrong(value, needed: "text").inside(name) }
        guard text.utf8.count <= 65_536 else { throw PolicyError(.tooLarge, "longer than 65536 bytes", at: name) }
        return text
    }

    func flag(_ name: String) throws(PolicyError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.bool else { throw PolicyError.wrong(value, needed: "true or false").inside(name) }
        return flag
    }

    func count(_ name: String) throws(PolicyError) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.integer else { throw PolicyError.wrong(value, needed: "a whole number").inside(name) }
        guard let count = Int(exactly: number), count >= 0 else {
            throw PolicyError(.invalidValue, "\(number) cannot be meant", at: name, hint: "zero or more")
        }
        return count
    }

    /// Minutes, also with a fraction, also negative: a negative time says that a clock was turned back.
    func minutes(_ name: String) throws(PolicyError) -> Duration? {
        guard let value = value(name) else { return nil }
        let minutes: Double? =
            switch value {
            case .integer(let integer): Double(integer)
            case .number(let number): number.double
            default: nil
            }
        guard let minutes else { throw PolicyError.wrong(value, needed: "a number of minutes").inside(name) }
        guard minutes.isFinite, abs(minutes) <= 1e10 else {
            throw PolicyError(.invalidValue, "no such time", at: name, hint: "minutes, at most ten thousand million")
        }
        return .milliseconds((minutes * 60_000).rounded())
    }

    func version(_ name: String) throws(PolicyError) -> VersionNumber? {
        guard let text = try text(name) else { return nil }
        guard let version = VersionNumber(text) else {
            throw PolicyError(
                .invalidValue, "\"\(text.prefix(64))\" is not a version", at: name, hint: "for example 17.4")
        }
        return version
    }

    /// A member of an enumeration by its exact name.
    func name<Value: RawRepresentable & CaseIterable>(_ name: String, _ type: Value.Type) throws(PolicyError) -> Value?
    where Value.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue)
            let meant = MemberSpelling.meant(by: text, among: known).map { "did you mean \($0)? " } ?? ""
            throw PolicyError(
                .unknownName, "\"\(text.prefix(64))\" is not known", at: name,
                hint: meant + "One of " + known.joined(separator: ", "))
        }
        return value
    }

    func object(_ name: String) throws(PolicyError) -> QuestionReader? {
        guard let value = value(name) else { return nil }
        return try QuestionReader(value, name)
    }

    func list(_ name: String) throws(PolicyError) -> [JSONValue] {
        guard let value = value(name) else { return [] }
        guard let list = value.array else { throw PolicyError.wrong(value, needed: "a list").inside(name) }
        return list
    }
}
