import CordonPolicy
import CordonServiceHTTP
import Foundation

/// An `$orderby` expression: members, the first counts most.
struct GraphOrder: Sendable, Equatable {
    private let keys: [(path: [String], descending: Bool)]

    /// Reads `displayName desc,createdDateTime`.
    ///
    /// - Throws: ``Refusal`` with status 400.
    init(_ text: String) throws {
        var keys: [(path: [String], descending: Bool)] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: " ")
            let direction = words.count == 2 ? words[1].lowercased() : "asc"
            guard (1...2).contains(words.count), ["asc", "desc"].contains(direction), keys.count < 8,
                words[0].utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "(") })
            else { throw Refusal.badRequest("$orderby: needs members, each with asc or desc.") }
            keys.append((words[0].split(separator: "/").map(String.init), direction == "desc"))
        }
        self.keys = keys
    }

    /// The one member that entities are ordered by upwards, in lower case; nil for any other order.
    var onlyAscending: String? {
        guard keys.count == 1, !keys[0].descending, keys[0].path.count == 1 else { return nil }
        return keys[0].path[0].lowercased()
    }

    /// The members that entities are ordered by.
    var paths: [[String]] { keys.map(\.path) }

    /// The members that entities are ordered by, in lower case.
    var members: Set<String> { Set(paths.compactMap { $0.first?.lowercased() }) }

    /// The places of entities in this order, given what each is ordered by; those that are equal stay as they were.
    func sorted(_ values: [[JSONValue]]) -> [Int] {
        values.indices.sorted { left, right in
            switch compare(values[left], values[right]) {
            case .orderedAscending: true
            case .orderedDescending: false
            case .orderedSame: left < right
            }
        }
    }

    /// What an entity is ordered by.
    func values(of entity: JSONValue) -> [JSONValue] { keys.map { Self.value(at: $0.path, in: entity) } }

    /// How two entities with these values are ordered; values that are missing do not count.
    func compare(_ left: [JSONValue], _ right: [JSONValue]) -> ComparisonResult {
        for ((left, right), key) in zip(zip(left, right), keys) {
            switch Self.place(left, right) {
            case .orderedAscending: return key.descending ? .orderedDescending : .orderedAscending
            case .orderedDescending: return key.descending ? .orderedAscending : .orderedDescending
            case .orderedSame: continue
            }
        }
        return .orderedSame
    }

    /// How two values of one kind compare, texts without case; nil for values of different kinds.
    static func compare(_ left: JSONValue, _ right: JSONValue) -> ComparisonResult? {
        switch (left, right) {
        case (.null, .null): return .orderedSame
        case (.bool(let left), .bool(let right)):
            return left == right ? .orderedSame : left ? .orderedDescending : .orderedAscending
        case (.string(let left), .string(let right)):
            let (left, right) = (left.lowercased(), right.lowercased())
            return left == right ? .orderedSame : left < right ? .orderedAscending : .orderedDescending
        default:
            guard let left = number(left), let right = number(right) else { return nil }
            return left == right ? .orderedSame : left < right ? .orderedAscending : .orderedDescending
        }
    }

    /// A total order: nothing first, then by kind.
    private static func place(_ left: JSONValue, _ right: JSONValue) -> ComparisonResult {
        if let result = compare(left, right) { return result }
        let (left, right) = (rank(left), rank(right))
        return left == right ? .orderedSame : left < right ? .orderedAscending : .orderedDescending
    }

    private static func rank(_ value: JSONValue) -> Int {
        switch value {
        case .null: 0
        case .bool: 1
        case .integer, .number: 2
        case .string: 3
        case .array, .object: 4
        }
    }

    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number.double
        default: nil
        }
    }

    private static func value(at path: [String], in entity: JSONValue) -> JSONValue {
        path.reduce(entity) { value, name in
            let members = value.object ?? [:]
            return members[name] ?? members.first { $0.key.lowercased() == name.lowercased() }?.value ?? .null
        }
    }

    static func == (left: GraphOrder, right: GraphOrder) -> Bool {
        left.paths == right.paths && left.keys.map(\.descending) == right.keys.map(\.descending)
    }
}
