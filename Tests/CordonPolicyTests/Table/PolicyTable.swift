import CordonIdentity
import CordonPolicy
import Foundation

/// The table of `Tests/Vectors/policy`: every setting that bears on an action, every place, account and peer.
struct PolicyTable: Sendable {
    let folder: URL
    let groups: [String: [(name: String, choices: [JSONValue])]]
    private let words: [String: [String: JSONValue]]

    init() throws {
        folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors/policy")
        let table = try JSONValue(parsing: Data(contentsOf: folder.appendingPathComponent("table.json")))
        groups = (table["groups"]?.object ?? [:]).mapValues { group in
            (group.array ?? []).map { ($0.array?[0].string ?? "", $0.array?[1].array ?? []) }
        }
        words = (table["words"]?.object ?? [:]).mapValues { $0.object ?? [:] }
    }

    func count(of group: String) -> Int {
        (groups[group] ?? []).reduce(1) { $0 * $1.choices.count }
    }

    /// The engine's letters for every `stride`-th cell from `offset`; `!` where the verdict and the explanation differ.
    func letters(of group: String, stride step: Int, offset: Int) throws -> String {
        let dimensions = groups[group] ?? []
        var sets: [[Int]: PolicySet] = [:]
        var letters = ""
        for index in stride(from: offset, to: count(of: group), by: step) {
            var (rest, picks) = (index, [Int](repeating: 0, count: dimensions.count))
            for position in dimensions.indices.reversed() {
                let choices = dimensions[position].choices.count
                (rest, picks[position]) = (rest / choices, rest % choices)
            }
            let key = dimensions.indices.map { isPolicy(dimensions[$0].name) ? picks[$0] : 0 }
            let set = try sets[key] ?? policies(dimensions, picks)
            sets[key] = set
            let question = try Question(json: question(dimensions, picks))
            let verdict = set.verdict(for: question)
            letters.append(verdict == set.decision(for: question).verdict ? Self.letter(verdict) : "!")
        }
        return letters
    }

    /// What a cell asks, for a failure message.
    func describe(_ group: String, cell: Int) -> String {
        let dimensions = groups[group] ?? []
        var (rest, parts) = (cell, [String]())
        for dimension in dimensions.reversed() {
            let choice = rest % dimension.choices.count
            rest /= dimension.choices.count
            parts.append("\(dimension.name)=\(dimension.choices[choice].text())")
        }
        return parts.reversed().joined(separator: " ")
    }

    static func letter(_ verdict: Verdict) -> Character {
        switch verdict {
        case .allow: "a"
        case .restrict: "r"
        case .warn: "n"
        case .block: "b"
        case .wipe: "w"
        }
    }

    private func isPolicy(_ name: String) -> Bool { name.hasPrefix("P.") || name.hasPrefix("Q.") }

    private func policies(_ dimensions: [(name: String, choices: [JSONValue])], _ picks: [Int]) throws -> PolicySet {
        var members: [Character: [String: JSONValue]] = ["P": ["id": "P"], "Q": ["id": "Q"]]
        for (dimension, pick) in zip(dimensions, picks) where isPolicy(dimension.name) {
            guard let side = dimension.name.first else { continue }
            members[side]?[String(dimension.name.dropFirst(2))] = dimension.choices[pick]
        }
        let (mine, other) = (members["P"] ?? [:], members["Q"] ?? [:])
        return PolicySet([
            "oid-a": EffectivePolicy(try AppProtectionPolicy(graphJSON: .object(mine))),
            "oid-b": EffectivePolicy(try AppProtectionPolicy(graphJSON: .object(other))),
        ])
    }

    private func question(_ dimensions: [(name: String, choices: [JSONValue])], _ picks: [Int]) -> JSONValue {
        var question: [String: JSONValue] = [:]
        var device: [String: JSONValue] = [:]
        for (dimension, pick) in zip(dimensions, picks) {
            let choice = dimension.choices[pick]
            if dimension.name.hasPrefix("q.") {
                question[String(dimension.name.dropFirst(2))] = choice
            } else if dimension.name.hasPrefix("d.") {
                device[String(dimension.name.dropFirst(2))] = choice
            } else if let word = choice.string, let meaning = words[dimension.name]?[word] {
                question[dimension.name] = meaning
            }
        }
        if !device.isEmpty { question["device"] = .object(device) }
        return .object(question)
    }
}
