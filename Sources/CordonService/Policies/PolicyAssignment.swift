/// Whom a policy reaches, or does not reach (SRV-RS-139…144).
public struct PolicyAssignment: Sendable, Codable, Equatable {
    /// The assignment's id, minted by the service where empty.
    public var id: String
    /// Whom it names.
    public var target: Target
    /// The id of an assignment filter, nil for none.
    public var filterID: String?
    /// What the filter does: which apps of the target it lets through.
    public var filterMode: FilterMode

    /// Whom an assignment names.
    public enum Target: Sendable, Codable, Hashable {
        /// The transitive members of a group.
        case group(String)
        /// Never the transitive members of a group, whatever else includes them (SRV-TG-04).
        case exclusionGroup(String)
        /// Every enabled and entitled person.
        case allLicensedUsers
        /// As ``allLicensedUsers``, since policies reach people, not devices (SRV-RS-144).
        case allDevices

        /// Whether the target includes people rather than excluding them.
        public var includes: Bool {
            if case .exclusionGroup = self { false } else { true }
        }

        /// The same with a group's id in lower case, as targets are compared.
        package var folded: Self {
            switch self {
            case .group(let id): .group(CordonService.folded(id))
            case .exclusionGroup(let id): .exclusionGroup(CordonService.folded(id))
            case .allLicensedUsers, .allDevices: self
            }
        }
    }

    /// What an assignment filter does.
    public enum FilterMode: String, Sendable, Codable {
        /// No filter.
        case none
        /// Only what the filter matches.
        case include
        /// All but what the filter matches.
        case exclude
    }

    /// Makes an assignment.
    public init(_ target: Target, id: String = "", filterID: String? = nil, filterMode: FilterMode = .none) {
        self.id = id
        self.target = target
        self.filterID = filterID
        self.filterMode = filterMode
    }
}
