import CordonPolicy
import Foundation

/// A `$filter` expression, read once and asked of every entity (SRV-OP-009).
indirect enum GraphFilter: Sendable {
    /// One side of a comparison.
    indirect enum Operand: Sendable {
        case literal(JSONValue)
        /// A moment, written without quotes.
        case time(Date)
        /// A member, a member of a member, or a variable of `any` and `all`.
        case path([String])
        case lowered(Operand)
        case raised(Operand)
    }

    enum Comparison: String, Sendable {
        case eq, ne, gt, ge, lt, le
    }

    /// How a text is looked for in another.
    enum Match: String, Sendable {
        case startswith, endswith, contains
    }

    case and(GraphFilter, GraphFilter)
    case or(GraphFilter, GraphFilter)
    case not(GraphFilter)
    case compare(Operand, Comparison, Operand)
    case member(Operand, of: [Operand])
    case match(Match, Operand, Operand)
    case isOf(String)
    /// Whether a condition holds for some entry of a list; without one, whether there is an entry.
    case any([String], variable: String, GraphFilter?)
    case all([String], variable: String, GraphFilter)
    /// A truth value that stands alone.
    case holds(Operand)

    /// Whether an entity is let through.
    func admits(_ entity: JSONValue) -> Bool { admits(Scope(entity: entity)) }

    private func admits(_ scope: Scope) -> Bool {
        switch self {
        case .and(let left, let right): left.admits(scope) && right.admits(scope)
        case .or(let left, let right): left.admits(scope) || right.admits(scope)
        case .not(let inner): !inner.admits(scope)
        case .compare(let left, let comparison, let right):
            scope.value(of: left).compares(comparison, to: scope.value(of: right))
        case .member(let operand, let list):
            list.contains { scope.value(of: operand).compares(.eq, to: scope.value(of: $0)) }
        case .match(let match, let text, let part): Self.matches(match, scope.value(of: text), scope.value(of: part))
        case .isOf(let type): scope.entity["@odata.type"]?.string.map { EntityType.isOne($0, of: type) } ?? false
        case .any(let path, let variable, let condition):
            scope.entries(at: path).contains { entry in
                condition.map { $0.admits(scope.binding(variable, to: entry)) } ?? true
            }
        case .all(let path, let variable, let condition):
            scope.entries(at: path).allSatisfy { condition.admits(scope.binding(variable, to: $0)) }
        case .holds(let operand): scope.value(of: operand).json == .bool(true)
        }
    }

    /// The members of an entity that are looked at, in lower case.
    var members: Set<String> {
        switch self {
        case .and(let left, let right), .or(let left, let right): left.members.union(right.members)
        case .not(let inner): inner.members
        case .compare(let left, _, let right), .match(_, let left, let right): left.members.union(right.members)
        case .member(let operand, let list): list.reduce(operand.members) { $0.union($1.members) }
        case .isOf: []
        case .any(let path, let variable, let condition):
            Operand.path(path).members.union((condition?.members ?? []).subtracting([variable.lowercased()]))
        case .all(let path, let variable, let condition):
            Operand.path(path).members.union(condition.members.subtracting([variable.lowercased()]))
        case .holds(let operand): operand.members
        }
    }

    private static func matches(_ match: Match, _ text: FilterValue, _ part: FilterValue) -> Bool {
        guard let text = text.json?.string?.lowercased(), let part = part.json?.string?.lowercased() else {
            return false
        }
        return switch match {
        case .startswith: text.hasPrefix(part)
        case .endswith: text.hasSuffix(part)
        case .contains: part.isEmpty || text.contains(part)
        }
    }
}

extension GraphFilter.Operand {
    fileprivate var members: Set<String> {
        switch self {
        case .literal, .time: []
        case .path(let path): Set(path.prefix(1).map { $0.lowercased() })
        case .lowered(let inner), .raised(let inner): inner.members
        }
    }
}

/// What names stand for while a filter is asked.
private struct Scope {
    let entity: JSONValue
    var variables: [String: JSONValue] = [:]

    func binding(_ variable: String, to value: JSONValue) -> Scope {
        var scope = self
        scope.variables[variable] = value
        return scope
    }

    func value(of operand: GraphFilter.Operand) -> FilterValue {
        switch operand {
        case .literal(let value): .json(value)
        case .time(let date): .time(date)
        case .path(let path): .json(find(path))
        case .lowered(let inner): .json(value(of: inner).json?.string.map { .string($0.lowercased()) } ?? .null)
        case .raised(let inner): .json(value(of: inner).json?.string.map { .string($0.uppercased()) } ?? .null)
        }
    }

    func entries(at path: [String]) -> [JSONValue] { find(path).array ?? [] }

    private func find(_ path: [String]) -> JSONValue {
        var rest = path[...]
        var value = entity
        if let first = rest.first, let bound = variables[first] {
            value = bound
            rest = rest.dropFirst()
        }
        for name in rest {
            guard let members = value.object else { return .null }
            value = members[name] ?? members.first { $0.key.lowercased() == name.lowercased() }?.value ?? .null
        }
        return value
    }
}

/// A value that is compared: a moment where it was written as one, else JSON.
private enum FilterValue {
    case json(JSONValue)
    case time(Date)

    var json: JSONValue? {
        if case .json(let value) = self { value } else { nil }
    }

    private var date: Date? {
        switch self {
        case .time(let date): date
        case .json(let value): value.string.flatMap(GraphTime.date)
        }
    }

    /// Values of different kinds are unlike, and neither is greater; texts are compared without case.
    func compares(_ comparison: GraphFilter.Comparison, to other: FilterValue) -> Bool {
        let order = order(to: other)
        return switch comparison {
        case .eq: order == .orderedSame
        case .ne: order != .orderedSame
        case .gt: order == .orderedDescending
        case .ge: order == .orderedDescending || order == .orderedSame
        case .lt: order == .orderedAscending
        case .le: order == .orderedAscending || order == .orderedSame
        }
    }

    private func order(to other: FilterValue) -> ComparisonResult? {
        if case .time = self { return Self.order(date, other.date) }
        if case .time = other { return Self.order(date, other.date) }
        guard let left = json, let right = other.json else { return nil }
        return GraphOrder.compare(left, right)
    }

    private static func order(_ left: Date?, _ right: Date?) -> ComparisonResult? {
        guard let left, let right else { return nil }
        return left.compare(right)
    }
}
