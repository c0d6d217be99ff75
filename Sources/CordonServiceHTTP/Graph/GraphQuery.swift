import Foundation

/// The query options of a request, decoded (SRV-OP-003).
struct GraphQuery: Sendable, Equatable {
    /// The members to answer, nil for all; `id` and `@odata.type` always stay (SRV-OP-011).
    var select: Set<String>?
    /// The navigation members to include.
    var expand: Set<String> = []
    /// How many entities a page holds.
    var top: Int?
    /// How many entities to leave out.
    var skip = 0
    /// Whether the number of all entities is asked for.
    var count = false
    /// Where a page begins, as the service itself wrote it.
    var skipToken: String?
    /// `displayName eq '…'` and its like: member and value.
    var equals: (member: String, value: String)?
    /// The options as they came, but for the page's beginning.
    var kept: [(name: String, value: String)] = []

    static let usualPage = 100
    static let largestPage = 1_000
    private static let unsupported: Set<String> = [
        "$orderby", "$search", "$apply", "$compute", "$format", "$deltatoken",
    ]

    init(_ query: String?) throws(GraphRefusal) {
        for pair in (query ?? "").split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(halves[0])?.lowercased(),
                let value = Self.decode(halves.count > 1 ? halves[1] : "")
            else { throw .badRequest("A query option is not UTF-8.") }
            try read(name, value)
        }
    }

    private mutating func read(_ name: String, _ value: String) throws(GraphRefusal) {
        switch name {
        case "$select": select = Set(Self.words(value))
        case "$expand": expand = Set(Self.words(value).map { String($0.prefix { $0 != "(" }) })
        case "$top": top = try Self.number(value, name, in: 1...Self.largestPage)
        case "$skip": skip = try Self.number(value, name, in: 0...Int(Int32.max))
        case "$count": count = value.lowercased() == "true"
        case "$filter": equals = try Self.equality(value)
        case "$skiptoken":
            skipToken = value
            return
        case _ where Self.unsupported.contains(name):
            throw .badRequest("The query option \(name) is not supported here.")
        default: return
        }
        kept.append((name, value))
    }

    private static func words(_ value: String) -> [String] {
        value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func number(_ value: String, _ name: String, in range: ClosedRange<Int>) throws(GraphRefusal) -> Int
    {
        guard let number = Int(value), range.contains(number) else {
            throw .badRequest("\(name) must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func equality(_ value: String) throws(GraphRefusal) -> (String, String) {
        let words = value.trimmingCharacters(in: .whitespaces).split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[1].lowercased() == "eq", words[2].count >= 2, words[2].hasPrefix("'"),
            words[2].hasSuffix("'")
        else { throw .badRequest("Only filters of the form member eq 'text' are supported here.") }
        let text = String(words[2].dropFirst().dropLast())
        let inner = text.replacing("''", with: "\u{0}")
        guard !inner.contains("'") else {
            throw .badRequest("Only filters of the form member eq 'text' are supported here.")
        }
        return (String(words[0]), inner.replacing("\u{0}", with: "'"))
    }

    private static func decode(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    static func == (left: GraphQuery, right: GraphQuery) -> Bool {
        left.select == right.select && left.expand == right.expand && left.top == right.top && left.skip == right.skip
            && left.count == right.count && left.skipToken == right.skipToken
            && left.equals?.member == right.equals?.member && left.equals?.value == right.equals?.value
    }
}
