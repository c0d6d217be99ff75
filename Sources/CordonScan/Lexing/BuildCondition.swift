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
    /// `DEBUG`, `targetEnvironment(simulator)`, `true`, `false`, `1` and `0` are understood, with `!`, `&&` and `||` between them.
    /// Everything else may hold in a build that people get.
    init(_ words: [String]) {
        let clauses = words.split(separator: "||").map { Self.conjunction(Array($0)) }
        guard let first = clauses.first else {
            self = .unknown
            return
        }
        if clauses.count == 1 {
            self = first
        } else {
            self.init(met: clauses.map(\.met).min() ?? .shipped, unmet: clauses.map(\.unmet).max() ?? .shipped)
        }
    }

    init(met: BuildReach, unmet: BuildReach) {
        self.met = met
        self.unmet = unmet
    }

    private static func conjunction(_ words: [String]) -> BuildCondition {
        let terms = words.split(separator: "&&").map { term(Array($0)) }
        guard terms.count > 1 else { return terms.first ?? .unknown }
        return BuildCondition(met: terms.map(\.met).max() ?? .shipped, unmet: terms.map(\.unmet).min() ?? .shipped)
    }

    private static func term(_ words: [String]) -> BuildCondition {
        var isNegated = false
        var rest = words[...]
        while rest.first == "!" {
            isNegated.toggle()
            rest = rest.dropFirst()
        }
        let name = rest.filter { !["(", ")", "defined"].contains($0) }.joined(separator: " ")
        let condition: BuildCondition =
            switch name {
            case "DEBUG", "_DEBUG", "targetEnvironment simulator", "TARGET_OS_SIMULATOR", "TARGET_IPHONE_SIMULATOR":
                BuildCondition(met: .debug, unmet: .shipped)
            case "NDEBUG": BuildCondition(met: .shipped, unmet: .debug)
            case "true", "1": BuildCondition(met: .shipped, unmet: .never)
            case "false", "0": BuildCondition(met: .never, unmet: .shipped)
            default: .unknown
            }
        return isNegated ? BuildCondition(met: condition.unmet, unmet: condition.met) : condition
    }
}
