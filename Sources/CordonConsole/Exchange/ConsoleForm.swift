import CordonBase
import Foundation

/// What was filled in.
struct ConsoleForm: Sendable, Equatable {
    /// The most bytes of a form.
    static let largest = 256 << 10

    /// The values by name, in the order given.
    private(set) var values: [String: [String]]

    init(_ values: [String: [String]] = [:]) { self.values = values }

    /// Reads the text form; nil where it is none.
    init?(_ text: String) {
        guard let pairs = FormEncoding.pairs(text), pairs.count <= 2_000 else { return nil }
        values = [:]
        for (name, value) in pairs { values[name, default: []].append(value) }
    }

    /// The first value of a name, its ends trimmed; empty where there is none.
    subscript(_ name: String) -> String {
        (values[name]?.first ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What a field of one line says. What was known stays where that is what the field showed of it.
    func line(_ name: String, of known: String) -> String { self[name] == Self.line(known) ? known : self[name] }

    /// A value as a field of one line has it when it is sent: browsers take its line breaks away (WHATWG HTML §4.10.5.1.2).
    static func line(_ value: String) -> String {
        String(String.UnicodeScalarView(value.unicodeScalars.filter { $0 != "\n" && $0 != "\r" }))
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func all(_ name: String) -> [String] { values[name] ?? [] }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// The lines of a long field.
    func lines(_ name: String) -> [String] {
        (values[name]?.first ?? "").split(whereSeparator: \.isNewline).map {
            $0.trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }
    }
}
