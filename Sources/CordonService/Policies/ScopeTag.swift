internal import CordonPolicy

/// A mark by which policies are sorted (SRV-RS-148).
public struct ScopeTag: Sendable, Codable, Equatable {
    /// The id of the tag that every organisation has.
    public static let defaultID = "0"
    /// The tag that every organisation has.
    public static let builtIn = ScopeTag(id: defaultID, displayName: "Default")

    /// The id, which policies name.
    public let id: String
    /// The name, which is the organisation's only one: tools write it in place of the id (SRV-RS-022).
    public var displayName: String
    /// What the tag is for.
    public var description: String?

    /// Makes a tag.
    public init(id: String, displayName: String, description: String? = nil) {
        self.id = id
        self.displayName = displayName
        self.description = description
    }
}

extension ScopeTag: AdministeredResource {
    /// Scope tags.
    public static var storageKind: StorageKind { .scopeTag }
    /// The id.
    public var storageID: String { id }
    /// The word for it in the audit log.
    public static var auditName: String { "scopeTag" }
    /// Tags belong to the organisation as a whole.
    public static var writing: Permission { .manageTenant }
    /// What the tag says.
    public var entityVersion: String? { ContentVersion.of(self) }
    /// Tags target no one.
    public static var isTargeting: Bool { false }
    /// No two tags have one name.
    public var uniqueName: String? { displayName }

    /// What people read of the tag.
    public var shownTexts: [StoredText] {
        [StoredText("displayName", displayName), StoredText("description", description, hasLines: true)]
    }

    /// Refuses an unusable name, and any change of the tag that every organisation has.
    public func check() throws(ServiceError) {
        try checkName(displayName)
        try checkDirectoryID(id)
        guard id != Self.defaultID else { throw ServiceError(.conflict, "the default tag is not changed", place: id) }
    }

    /// Whether a policy carries the tag.
    public func isUsed(by policy: ManagedAppPolicy) -> Bool {
        policy.document["roleScopeTagIds"]?.array?.contains { $0.string == id } ?? false
    }
}
