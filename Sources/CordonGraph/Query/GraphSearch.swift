import CordonPolicy
import CordonServiceHTTP
import Foundation

/// A `$search` expression: texts that all have to stand in the name, or in another member where one is given.
struct GraphSearch: Sendable, Equatable {
    private struct Term: Equatable {
        var member: String
        var text: String
        /// What is looked for in the names of entities that do not have the member, nil where the member must be one.
        var name: String?
    }

    private let terms: [Term]

    /// Reads `"notes"`, `notes`, `"displayName:notes" AND "mail:ada"`.
    ///
    /// - Throws: ``Refusal`` with status 400.
    init(_ text: String) throws {
        var terms: [Term] = []
        var rest = Substring(text.trimmingCharacters(in: .whitespaces))
        while !rest.isEmpty {
            let word: Substring
            if rest.first == "\"" {
                guard let close = rest.dropFirst().firstIndex(of: "\"") else {
                    throw Refusal.badRequest("$search: a quote is not closed.")
                }
                word = rest[rest.index(after: rest.startIndex)..<close]
                rest = rest[rest.index(after: close)...]
            } else {
                word = rest.prefix { $0 != " " }
                rest = rest.dropFirst(word.count)
                if word == "AND" {
                    rest = rest.drop { $0 == " " }
                    continue
                }
                guard !["OR", "NOT"].contains(word) else {
                    throw Refusal.badRequest("$search: only AND is supported here.")
                }
            }
            terms.append(Self.term(word))
            rest = rest.drop { $0 == " " }
        }
        guard !terms.isEmpty, terms.count <= 16 else { throw Refusal.badRequest("$search: needs 1 to 16 texts.") }
        self.terms = terms
    }

    /// The members that are looked at, in lower case.
    var members: Set<String> { Set(terms.map { $0.name == nil ? $0.member : "displayname" }) }

    /// Whether an entity has every text.
    func admits(_ entity: JSONValue) -> Bool {
        let members = entity.object ?? [:]
        return terms.allSatisfy { term in
            func value(_ name: String) -> String? {
                members.first { $0.key.lowercased() == name }.map { $0.value.string?.lowercased() ?? "" }
            }
            guard let value = value(term.member) else {
                return term.name.map { value("displayname")?.contains($0) == true } ?? term.text.isEmpty
            }
            return term.text.isEmpty || value.contains(term.text)
        }
    }

    private static func term(_ word: Substring) -> Term {
        let halves = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, halves[0].allSatisfy({ $0.isASCII && $0.isLetter }) else {
            return Term(member: "displayname", text: word.lowercased())
        }
        // A name may have a colon too: `"Rooms: all"`.
        return Term(
            member: halves[0].lowercased(), text: halves[1].trimmingCharacters(in: .whitespaces).lowercased(),
            name: halves[1].first == " " ? word.lowercased() : nil)
    }
}
