package import CordonPolicy
package import Foundation

/// What stands in the place of a member that came from outside.
package enum WrongForm: Sendable, Equatable, CustomStringConvertible {
    /// Nothing.
    case missing
    /// The member, and once more.
    case twice
    /// This JSON, as it is spelt: also what no ``JSONValue`` holds.
    case literal(String)

    package var description: String {
        switch self {
        case .missing: "missing"
        case .twice: "twice"
        case .literal(let text): String(text.prefix(60))
        }
    }

    /// All of them.
    package static let all: [WrongForm] =
        [.missing, .twice] + (plain + numbers + texts + addresses + nested).map { .literal($0) }

    /// Those for the place of a number: all where tests run at full length, two of them else; those of places in a row are others.
    package static func some(at index: Int) -> [WrongForm] {
        DeepRun.isDeep ? all : [index, index + all.count / 2].map { all[$0 % all.count] }
    }

    private static let plain = ["null", "true", "false", "[]", "{}"]
    private static let numbers = [
        "0", "-0", "-1", "1", "0.5", "1e308", "-1e308", "1e-320", "1e400", "9007199254740992", "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "18446744073709551615",
    ]
    private static let texts =
        [
            "", " ", #"\u0000"#, #"a\nb\u001B[2J\u202E"#, #"\uD800"#, "9223372036854775807", "nan", "=AA", "AAAAA",
            "P99999999999999999Y", "0000-00-00T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T24:00:00-24:59",
            "292277026596-12-04T15:30:07Z", "../../x?y#z", String(repeating: "a", count: 10_000),
        ].map { "\"\($0)\"" }
    private static let addresses = [
        "javascript:alert(1)", "http://a.example/", "https://a.example:0/", "https://a.example:65536/",
        "https://user:password@a.example/", "https://[::1/", "https://b\u{FC}cher.example/", "https://%00/",
    ].map { "\"\($0)\"" }
    private static let nested = [
        #"[null,9223372036854775807,"",{}]"#, #"{"":{"a":null}}"#,
        String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
    ]
}

/// A place inside a JSON value.
package struct Place: Sendable, CustomStringConvertible {
    private enum Step: Sendable { case member(String), element(Int) }

    /// Stands for the wrong form until the rest is written.
    private static let mark = "\u{E000}wrong\u{E000}"

    private let steps: [Step]

    package var description: String {
        steps.map { if case .member(let name) = $0 { "." + name } else { "[]" } }.joined()
    }

    /// Every place in a value, the value itself left out; of an array the first element stands for all.
    package static func all(in value: JSONValue) -> [Place] { all(in: value, below: []) }

    private static func all(in value: JSONValue, below steps: [Step]) -> [Place] {
        switch value {
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { name, value in
                let steps = steps + [.member(name)]
                return [Place(steps: steps)] + all(in: value, below: steps)
            }
        case .array(let values):
            values.first.map { [Place(steps: steps + [.element(0)])] + all(in: $0, below: steps + [.element(0)]) } ?? []
        default: []
        }
    }

    /// The value's JSON with a wrong form in this place.
    package func text(of value: JSONValue, as form: WrongForm) -> String {
        var former = ""
        let changed = replaced(in: value, isMissing: form == .missing, from: 0, &former)
        let literal =
            switch form {
            case .missing: ""
            case .twice: former
            case .literal(let text): text
            }
        return changed.text().replacing("\"\(Self.mark)\"", with: literal, maxReplacements: 1)
    }

    /// - Parameter former: Becomes what is written for ``WrongForm/twice``.
    private func replaced(in value: JSONValue, isMissing: Bool, from depth: Int, _ former: inout String) -> JSONValue {
        guard depth < steps.count else { return value }
        let isLast = depth == steps.count - 1
        switch (steps[depth], value) {
        case (.member(let name), .object(var members)):
            let member = members[name] ?? .null
            if isLast {
                former = "\(member.text()),\(JSONValue.string(name).text()):\(member.text())"
                members[name] = isMissing ? nil : .string(Self.mark)
            } else {
                members[name] = replaced(in: member, isMissing: isMissing, from: depth + 1, &former)
            }
            return .object(members)
        case (.element(let index), .array(var values)) where values.indices.contains(index):
            if isLast {
                former = "\(values[index].text()),\(values[index].text())"
                if isMissing { values.remove(at: index) } else { values[index] = .string(Self.mark) }
            } else {
                values[index] = replaced(in: values[index], isMissing: isMissing, from: depth + 1, &former)
            }
            return .array(values)
        default: return value
        }
    }
}

/// A whole message as no one who means well writes it.
package enum WrongBody: String, Sendable, CaseIterable {
    case empty, cut, doubled, followed, compressed, nested, scalar
    case marked, invalid, wide

    /// Whether no reader may take it for the message.
    package var isNone: Bool { ![.marked, .invalid, .wide].contains(self) }

    package func bytes(of whole: Data) -> Data {
        switch self {
        case .empty: Data()
        case .cut: Data(whole.dropLast())
        case .doubled: whole + whole
        case .followed: whole + Data("<!-- -->".utf8)
        // The head of a gzip member (RFC 1952), whose rest does not matter where none is unpacked.
        case .compressed: Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]) + whole
        case .nested: Data(repeating: UInt8(ascii: "["), count: 100_000)
        case .scalar: Data("7".utf8)
        case .marked: Data([0xEF, 0xBB, 0xBF]) + whole
        // Behind the first quotation mark, so that it stands in a name.
        case .invalid:
            whole.firstIndex(of: UInt8(ascii: "\"")).map { whole[...$0] + [0xFF, 0xC0, 0x80] + whole[($0 + 1)...] }
                ?? whole
        case .wide: String(decoding: whole, as: UTF8.self).data(using: .utf16) ?? whole
        }
    }
}
