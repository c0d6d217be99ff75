internal import CordonPolicy

/// The rule of an assignment filter, ready to be asked (SRV-TG-07).
indirect enum FilterRule: Sendable, Equatable {
    /// How a property is compared.
    enum Operator: String, Sendable, CaseIterable {
        case eq, ne, `in`, notIn, startsWith, contains, notContains, gt, ge, lt, le
    }

    case and(FilterRule, FilterRule)
    case or(FilterRule, FilterRule)
    case not(FilterRule)
    case compare(property: String, Operator, [String])

    /// Whether the rule holds for an app on a device; texts are compared without case, versions field by field.
    func holds(for facts: FilterFacts) -> Bool {
        switch self {
        case .and(let left, let right): left.holds(for: facts) && right.holds(for: facts)
        case .or(let left, let right): left.holds(for: facts) || right.holds(for: facts)
        case .not(let inner): !inner.holds(for: facts)
        case .compare(let property, let comparison, let values):
            Self.holds(facts.value(property), comparison, values, isVersion: FilterFacts.versions.contains(property))
        }
    }

    private static func holds(_ value: String, _ comparison: Operator, _ values: [String], isVersion: Bool) -> Bool {
        let text = value.lowercased()
        let first = values[0]
        func equals(_ other: String) -> Bool {
            if isVersion, let left = VersionNumber(value), let right = VersionNumber(other) { return left == right }
            return text == other.lowercased()
        }
        switch comparison {
        case .eq: return equals(first)
        case .ne: return !equals(first)
        case .in: return values.contains(where: equals)
        case .notIn: return !values.contains(where: equals)
        case .startsWith: return text.hasPrefix(first.lowercased())
        case .contains: return text.contains(first.lowercased())
        case .notContains: return !text.contains(first.lowercased())
        case .gt, .ge, .lt, .le:
            guard let left = VersionNumber(value), let right = VersionNumber(first) else { return false }
            return switch comparison {
            case .gt: left > right
            case .ge: left >= right
            case .lt: left < right
            default: left <= right
            }
        }
    }
}
