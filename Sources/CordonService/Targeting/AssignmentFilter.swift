public import Foundation

/// A rule by which an assignment reaches some apps and devices and not others (SRV-RS-147, SRV-TG-07).
public struct AssignmentFilter: Sendable, Codable, Equatable {
    /// The id, which assignments name.
    public let id: String
    /// The name to show.
    public var displayName: String
    /// What the filter is for.
    public var description: String?
    /// The platform as Graph names it; stored and echoed.
    public var platform: String
    /// The rule, such as `(app.osVersion -startsWith "17")`.
    public var rule: String
    /// When it was made.
    public let created: Date
    /// When it was last written.
    public var modified: Date
    /// The scope tags; stored and echoed.
    public var scopeTags: [String]

    /// The platform of filters for apps on devices without management.
    public static let usualPlatform = "iOSMobileApplicationManagement"

    /// Makes a filter.
    public init(
        id: String, displayName: String, description: String? = nil, platform: String = usualPlatform, rule: String,
        created: Date, modified: Date, scopeTags: [String] = [ScopeTag.defaultID]
    ) {
        self.id = id
        self.displayName = displayName
        self.description = description
        self.platform = platform
        self.rule = rule
        self.created = created
        self.modified = modified
        self.scopeTags = scopeTags
    }
}

extension AssignmentFilter: AdministeredResource {
    /// Assignment filters.
    public static var storageKind: StorageKind { .filter }
    /// The folded id.
    public var storageID: String { folded(id) }
    /// The word for it in the audit log.
    public static var auditName: String { "filter" }
    /// What the filter says, and since when.
    public var entityVersion: String? { versionToken }
    /// Who assigns policies says with which filters.
    public static var writing: Permission { .assignPolicies }
    /// No two filters have one name.
    public var uniqueName: String? { displayName }

    /// What people read of the filter.
    public var shownTexts: [StoredText] {
        [
            StoredText("displayName", displayName), StoredText("description", description, hasLines: true),
            StoredText("platform", platform), StoredText("rule", rule, hasLines: true),
        ] + StoredText.each("roleScopeTags", scopeTags)
    }

    /// Refuses a rule that cannot be evaluated, so that no policy ever waits for a rule that means nothing.
    public func check() throws(ServiceError) {
        try checkName(displayName)
        try checkDirectoryID(id)
        _ = try FilterRule(rule)
    }

    /// Policies that name the filter reach others when its rule changes.
    public func concerns(_ policy: ManagedAppPolicy) -> Bool { isUsed(by: policy) }

    /// They reach the same ones under another name.
    public func movesPolicies(from before: AssignmentFilter?) -> Bool { rule != before?.rule }

    /// Whether an assignment of a policy names the filter.
    public func isUsed(by policy: ManagedAppPolicy) -> Bool {
        policy.assignments.contains { $0.filterMode != .none && $0.filterID.map(folded) == storageID }
    }
}
