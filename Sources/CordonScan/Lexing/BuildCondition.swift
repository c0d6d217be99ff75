/// In which builds code is compiled, as far as its conditions say.
enum BuildReach: UInt8, Comparable {
    /// In builds that people get, or it is not known.
    case shipped
    /// In debug builds and simulators alone.
    case debug
    /// In none.
    case never

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What a condition says of the code under it and of the code under its `else`.
struct BuildCondition: Equatable {
    let met: BuildReach
    let unmet: BuildReach

    static let unknown = BuildCondition(met: .shipped, unmet: .shipped)

    /// Reads the words of an `#if`, `#ifdef`, `#ifndef` or `#elseif` line.
    ///
    /// `DEBUG`, `targetEnvironment(simulator)`, `true`, `false`, `1` and `0` are understood, with `!`, `&&`, `||` and parentheses around
    /// them. Everything else may hold in a build that people get.
    init(_ words: [String]) {
        var rest = words[...]
        self = Self.either(&rest)
    }

    init(met: BuildReach, unmet: BuildReach) {
        self.met = met
        self.unmet = unmet
    }

    private static func either(_ words: inout ArraySlice<String>) -> BuildCondition {
        var condition = both(&words)
        while words.first == "||" {
            words.removeFirst()
            let other = both(&words)
            condition = .init(met: min(condition.met, other.met), unmet: max(condition.unmet, other.unmet))
        }
        return condition
    }

    private static func both(_ words: inout ArraySlice<String>) -> BuildCondition {
        var condition = term(&words)
        while words.first == "&&" {
            words.removeFirst()
            let other = term(&words)
            condition = .init(met: max(condition.met, other.met), unmet: min(condition.unmet, other.unmet))
        }
        return condition
    }

    private static func term(_ words: inout ArraySlice<String>) -> BuildCondition {
        switch words.first {
        case "!":
            words.removeFirst()
            let inner = term(&words)
            return .init(met: inner.unmet, unmet: inner.met)
        case "(":
            words.removeFirst()
            let inner = either(&words)
            if words.first == ")" { words.removeFirst() }
            // `(a) > 1` is a comparison.
            return name(&words).isEmpty ? inner : .unknown
        default: return named(name(&words))
        }
    }

    /// The words of a name, a call or a comparison, without their parentheses.
    private static func name(_ words: inout ArraySlice<String>) -> String {
        var (found, depth): ([String], Int) = ([], 0)
        while let word = words.first, depth > 0 || !["&&", "||", ")"].contains(word) {
            words.removeFirst()
            depth += word == "(" ? 1 : word == ")" ? -1 : 0
            if !["(", ")", "defined"].contains(word) { found.append(word) }
        }
        return found.joined(separator: " ")
    }

    private static func named(_ name: String) -> BuildCondition {
        switch name {
        case "DEBUG", "_DEBUG", "targetEnvironment simulator", "TARGET_OS_SIMULATOR", "TARGET_IPHONE_SIMULATOR":
            .init(met: .debug, unmet: .shipped)
        case "NDEBUG": .init(met: .shipped, unmet: .debug)
        case "true", "1": .init(met: .shipped, unmet: .never)
        case "false", "0": .init(met: .never, unmet: .shipped)
        default: .unknown
        }
    }
}
