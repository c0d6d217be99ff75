public import CordonPolicy
public import Foundation

/// A policy or app configuration as the service keeps it.
public struct ManagedAppPolicy: Sendable, Equatable {
    /// The id, such as `T_<guid>` (SRV-RS-003).
    public let id: String
    /// What kind of policy it is.
    public let kind: PolicyKind
    /// Changes on every write, assignment and targeting (SRV-RS-004).
    public var version: String
    /// When it was made.
    public let created: Date
    /// When it was last written, assigned or targeted.
    public var modified: Date
    /// The Graph document without what the service owns; unknown members are kept (SRV-RS-011).
    public var document: JSONValue
    /// The apps that it lists.
    public var apps: [MobileAppIdentifier]
    /// The set of apps that it is about.
    public var appGroup: AppGroup
    /// Whom it reaches.
    public var assignments: [PolicyAssignment]

    /// Makes a policy.
    public init(
        id: String, kind: PolicyKind, version: String, created: Date, modified: Date, document: JSONValue,
        apps: [MobileAppIdentifier] = [], appGroup: AppGroup = .selectedPublicApps,
        assignments: [PolicyAssignment] = []
    ) {
        self.id = id
        self.kind = kind
        self.version = version
        self.created = created
        self.modified = modified
        self.document = document
        self.apps = apps
        self.appGroup = appGroup
        self.assignments = assignments
    }

    /// Whether it reaches anybody; exclusions alone reach nobody (SRV-TG-05).
    public var isAssigned: Bool { assignments.contains { $0.target.includes } }

    /// The id and version of the policy at this moment.
    public var reference: PolicyReference { PolicyReference(id: id, version: version) }
}
