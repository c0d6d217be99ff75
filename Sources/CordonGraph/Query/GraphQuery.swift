import CordonBase
import CordonServiceHTTP
import Foundation

/// The query options of a request, decoded (SRV-OP-003).
struct GraphQuery: Sendable {
    /// The members to answer, nil for all; `id` and `@odata.type` always stay (SRV-OP-011).
    var select: Set<String>?
    /// The navigation members to include.
    var expand: Set<String> = []
    /// The members to answer of what is included, by the navigation member; all of one that is not named.
    var expandedSelect: [String: Set<String>] = [:]
    /// How many entities a page holds.
    var top: Int?
    /// How many entities to leave out.
    var skip = 0
    /// Whether the number of all entities is asked for.
    var count = false
    /// Where a page begins, as the service itself wrote it.
    var skipToken: String?
    /// Which entities to let through.
    var filter: GraphFilter?
    /// The type that the path casts a list to, with its namespace and in lower case; nil for all of the list.
    var cast: String?
    /// How to order them.
    var order: GraphOrder?
    /// The texts to look for.
    var search: GraphSearch?
    /// Options without `$` that some functions take, by lower-case name.
    var custom: [String: String] = [:]
    /// The options as they came, but for the page's beginning.
    var kept: [(name: String, value: String)] = []

    static let usualPage = 100
    static let largestPage = 1_000
    /// What clients may write without `$` (OData 4.01).
    private static let plain: Set<String> = ["filter", "search", "orderby", "select", "expand", "count"]

    /// Reads the options of a request.
    ///
    /// - Parameter isOfFunction: Whether `top` and `skip` without `$` are options of the function that is asked.
    /// - Throws: ``Refusal`` with status 400.
    init(_ query: String?, isOfFunction: Bool = false) throws {
        let plain = isOfFunction ? Self.plain : Self.plain.union(["top", "skip"])
        var seen: Set<String> = []
        for pair in (query ?? "").split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let given = FormEncoding.unescape(halves[0])?.lowercased(),
                let value = FormEncoding.unescape(halves.count > 1 ? halves[1] : "")
            else { throw Refusal.badRequest("A query option is not UTF-8.") }
            let name = plain.contains(given) ? "$" + given : given
            guard !name.hasPrefix("$") || seen.insert(name).inserted else {
                throw Refusal.badRequest("The query option \(name.prefix(64)) is given twice.")
            }
            try read(name, value)
        }
    }

    private mutating func read(_ name: String, _ value: String) throws {
        switch name {
        case "$select": select = Self.names(value)
        case "$expand": for word in Self.words(value) { try readExpansion(word) }
        case "$top": top = try Self.number(value, name, in: 1...Self.largestPage)
        case "$skip": skip = try Self.number(value, name, in: 0...Int(Int32.max))
        case "$count": count = value.lowercased() == "true"
        case "$filter": filter = try GraphFilterParser.parse(value)
        case "$orderby": order = try GraphOrder(value)
        case "$search": search = try GraphSearch(value)
        case "$skiptoken":
            skipToken = value
            return
        // Passed over, a misspelt `$filter` would let everything through (OData URL conventions §5).
        case _ where name.hasPrefix("$"):
            throw Refusal.badRequest("The query option \(name.prefix(64)) is not supported here.")
        default: custom[name] = value
        }
        kept.append((name, value))
    }

    /// Reads a navigation member with its options in brackets, which may be `$select` alone (OData URL conventions §5.1.3).
    private mutating func readExpansion(_ word: String) throws {
        let (name, options) = (word.prefix { $0 != "(" }, word.drop { $0 != "(" })
        guard options.isEmpty || options.last == ")" else {
            throw Refusal.badRequest("$expand: a bracket is not closed.")
        }
        let member = name.trimmingCharacters(in: .whitespaces).lowercased()
        expand.insert(member)
        for option in Self.words(options.dropFirst().dropLast(), at: ";") {
            let halves = option.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard halves.count == 2, ["$select", "select"].contains(halves[0].lowercased()) else {
                throw Refusal.badRequest("$expand: only $select is supported in brackets.")
            }
            expandedSelect[member] = Self.names(halves[1])
        }
    }

    /// The names of members, in lower case; nil for all of them.
    private static func names(_ value: String) -> Set<String>? {
        let names = Set(words(value).map { $0.lowercased() })
        return names.contains("*") ? nil : names
    }

    /// The entries of a list; a separator inside brackets or quotes belongs to its entry.
    private static func words(_ value: some StringProtocol, at separator: Character = ",") -> [String] {
        var words = [""]
        var (depth, isQuoted) = (0, false)
        for character in value {
            if character == "'" { isQuoted.toggle() }
            if character == "(", !isQuoted { depth += 1 }
            if character == ")", !isQuoted { depth -= 1 }
            if character == separator, depth <= 0, !isQuoted {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// A number among the options of a function; nil where it is not given.
    ///
    /// - Throws: ``Refusal`` with status 400.
    static func number(_ name: String, _ options: [String: String], in range: ClosedRange<Int>) throws -> Int? {
        try options[name].flatMap { $0.isEmpty ? nil : try number($0, name, in: range) }
    }

    private static func number(_ value: String, _ name: String, in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw Refusal.badRequest("\(name) must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
