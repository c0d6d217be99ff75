import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The rules that a seal carries: which files it lists (TL-MO-31). Of the rules that match a path the one with the most
/// weight counts, of two with the same one that leaves out, and a path that none matches is left out.
final class SealRules {
    private struct Rule {
        let pattern: UnsafeMutablePointer<regex_t>
        let weight: Double
        let isOmitted: Bool
    }

    /// The seals of Apple's tools have about ten.
    private static let most = 64
    private static let longest = 200
    /// With wildcards behind a repetition an expression's automaton doubles; Apple's tools write at most nine operators.
    private static let mostOperators = 10

    private let rules: [Rule]

    /// Reads the rules of a seal's newer list, or of the older one where that is the only one; nil for a seal without rules.
    /// - Throws: ``AppToolsError`` `malformed` for rules that cannot be read, or could take long to be followed.
    init?(_ seal: PropertyListValue) throws(AppToolsError) {
        guard let listed = (seal["files2"] == nil ? seal["rules"] : seal["rules2"])?.dictionary else { return nil }
        guard listed.entries.count <= Self.most else {
            throw AppToolsError(.malformed, "the seal has \(listed.entries.count) rules, more than \(Self.most)")
        }
        var rules: [Rule] = []
        do {
            for (pattern, value) in listed.entries { rules.append(try Self.rule(pattern, value)) }
        } catch {
            Self.free(rules)
            throw error
        }
        self.rules = rules
    }

    deinit { Self.free(rules) }

    /// Whether the rules leave a path out of the seal.
    func omits(_ path: String) -> Bool {
        let matching = rules.filter { regexec($0.pattern, path, 0, nil, 0) == 0 }
        guard let most = matching.map(\.weight).max() else { return true }
        return matching.contains { $0.weight == most && $0.isOmitted }
    }

    private static func rule(_ pattern: String, _ value: PropertyListValue) throws(AppToolsError) -> Rule {
        let unreadable = AppToolsError(.malformed, "the seal's rule \(pattern.prefix(40)) cannot be read")
        guard pattern.utf8.count <= longest, !isHeavy(pattern) else { throw unreadable }
        let weight: Double
        switch value["weight"] {
        case .real(let number)?: weight = number
        case .integer(let number)?: weight = Double(number)
        case nil: weight = 1
        default: throw unreadable
        }
        let compiled = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
        guard regcomp(compiled, pattern, REG_EXTENDED) == 0 else {
            compiled.deallocate()
            throw unreadable
        }
        return Rule(
            pattern: compiled, weight: weight, isOmitted: value["omit"]?.boolean == true || value.boolean == false)
    }

    /// Whether an expression may be slow or large: by counts, references to groups and other escapes of letters, many
    /// operators, or what is repeated twice, since each `+` doubles what it repeats. Read by bytes, as the system reads it.
    private static func isHeavy(_ pattern: String) -> Bool {
        var isEscaped = false
        var operators = 0
        var last: Character = "^"
        for byte in pattern.utf8 {
            let character = Character(Unicode.Scalar(byte))
            let isLiteral = isEscaped
            defer { last = isLiteral ? "^" : character }
            switch character {
            case "\0": return true
            case _ where isEscaped:
                if character.isLetter || character.isNumber { return true }
                isEscaped = false
            case "{": return true
            case "+" where ")+*?".contains(last), "*" where ")+*?".contains(last): return true
            case "\\": isEscaped = true
            default: operators += ".[|*+?".contains(character) ? 1 : 0
            }
        }
        return operators > mostOperators
    }

    private static func free(_ rules: [Rule]) {
        for rule in rules {
            regfree(rule.pattern)
            rule.pattern.deallocate()
        }
    }
}
