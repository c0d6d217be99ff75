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

    /// Whether it reaches any person; exclusions alone reach none (SRV-TG-05).
    public var isAssigned: Bool { assignments.contains { $0.target.includes } }

    /// The id and version of the policy at this moment.
    public var reference: PolicyReference { PolicyReference(id: id, version: version) }
}

extension ManagedAppPolicy {
    /// The whole entity in the form of Graph beta, without navigation members; a transport leaves out what its
    /// version does not have (SRV-RS-002, 005, 010).
    public var graphEntity: JSONValue {
        var members = document.object ?? [:]
        members["@odata.type"] = .string(kind.odataType)
        members["id"] = .string(id)
        members["version"] = .string(version)
        members["createdDateTime"] = .string(Self.text(of: created))
        members["lastModifiedDateTime"] = .string(Self.text(of: modified))
        members["deployedAppCount"] = .integer(Int64(apps.count))
        if kind.isAssignable {
            members["isAssigned"] = .bool(isAssigned)
            members["appGroupType"] = .string(appGroup.rawValue)
        }
        return .object(members)
    }

    /// The `apps` navigation member.
    public var graphApps: JSONValue { .array(apps.map { GraphApps.json($0, version: version) }) }

    /// The `assignments` navigation member.
    public var graphAssignments: JSONValue { .array(assignments.map(GraphAssignments.json)) }

    /// A time as Graph writes it: UTC with `Z`, whole seconds.
    static func text(of time: Date) -> String {
        time.formatted(.iso8601)
    }
}

/// Stored with the document as text, so that no digit of a number is lost.
extension ManagedAppPolicy: Codable {
    private enum Member: String, CodingKey {
        case id, kind, version, created, modified, document, apps, appGroup, assignments
    }

    /// Reads a stored policy.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let text = try members.decode(String.self, forKey: .document)
        self.init(
            id: try members.decode(String.self, forKey: .id),
            kind: try members.decode(PolicyKind.self, forKey: .kind),
            version: try members.decode(String.self, forKey: .version),
            created: try members.decode(Date.self, forKey: .created),
            modified: try members.decode(Date.self, forKey: .modified),
            document: try JSONValue(parsing: Data(text.utf8)),
            apps: try members.decode([MobileAppIdentifier].self, forKey: .apps),
            appGroup: try members.decode(AppGroup.self, forKey: .appGroup),
            assignments: try members.decode([PolicyAssignment].self, forKey: .assignments))
    }

    /// Writes a policy for the store.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(id, forKey: .id)
        try members.encode(kind, forKey: .kind)
        try members.encode(version, forKey: .version)
        try members.encode(created, forKey: .created)
        try members.encode(modified, forKey: .modified)
        try members.encode(document.text(), forKey: .document)
        try members.encode(apps, forKey: .apps)
        try members.encode(appGroup, forKey: .appGroup)
        try members.encode(assignments, forKey: .assignments)
    }
}

extension ManagedAppPolicy {
    /// The scope tags that the policy carries; the default one where it names none.
    var scopeTags: Set<String> { Self.scopeTags(in: document) }

    /// The scope tags that a policy's document names.
    static func scopeTags(in document: JSONValue) -> Set<String> {
        let named = Set(document["roleScopeTagIds"]?.array?.compactMap(\.string) ?? [])
        return named.isEmpty ? [ScopeTag.defaultID] : named
    }

    /// The kinds of device management that it is about, in lower case (SRV-RS-074).
    var managementLevels: Set<String> { Self.managementLevels(in: document["targetedAppManagementLevels"]?.string) }

    private static func managementLevels(in text: String?) -> Set<String> {
        let names = (text?.lowercased() ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return names.isEmpty ? ["unspecified"] : Set(names)
    }

    /// What is wrong with a value of `targetedAppManagementLevels`, nil where nothing is. A policy with a name that nobody knows, or with
    /// those of the other platform alone, would reach nobody, without a word. App configurations are for both platforms.
    static func flaw(ofLevels value: JSONValue?, _ kind: PolicyKind) -> String? {
        guard let value, value != .null else { return nil }
        guard let text = value.string, case let names = managementLevels(in: text),
            names.isSubset(of: levels.union(androidLevels)), !kind.isEvaluated || !names.isDisjoint(with: levels)
        else {
            return "needs to be one or more of unspecified, unmanaged and mdm"
                + (kind.isEvaluated ? "" : ", or of Graph's names for Android")
        }
        return nil
    }

    private static let levels: Set<String> = ["unspecified", "unmanaged", "mdm"]
    private static let androidLevels: Set<String> = [
        "androidenterprise",
        "androidenterprisededicateddeviceswithazureadsharedmode",
        "androidopensourceprojectuserassociated", "androidopensourceprojectuserless",
    ]

    /// An Android app in an iOS policy is a mistake, and the other way round (SRV-RS-138).
    func checkApps() throws(ServiceError) {
        let wrong: MobileAppIdentifier.Platform? =
            switch kind {
            case .iosManagedAppProtection: .android
            case .androidManagedAppProtection: .ios
            case .defaultManagedAppProtection, .targetedManagedAppConfiguration: nil
            }
        guard let index = apps.firstIndex(where: { $0.platform == wrong }) else { return }
        throw ServiceError(
            .invalid, "an app is of another platform than the policy",
            problems: [.init(member: "apps[\(index)]", reason: "is of another platform than the policy")])
    }

    /// Warnings about a written policy, for the audit record of the write.
    var auditWarnings: [String: String] {
        var warnings: [String: String] = [:]
        let unknown = unknownMembers
        if !unknown.isEmpty { warnings["unknownMembers"] = unknown.joined(separator: ", ") }
        let tokens = unknownTokens
        if !tokens.isEmpty { warnings["unknownTokens"] = tokens.joined(separator: ", ") }
        // Policies reach people, not devices (SRV-RS-144).
        if assignments.contains(where: { $0.target == .allDevices }) {
            warnings["allDevices"] = "taken for every licensed person"
        }
        return warnings
    }

    /// Whether some app may be one of both policies; the named sets may have any app.
    func sharesApps(with other: ManagedAppPolicy) -> Bool {
        [self, other].contains { $0.apps.isEmpty || $0.appGroup != .selectedPublicApps }
            || !Set(apps).isDisjoint(with: other.apps)
    }

    /// Members that this version does not know; kept and echoed (SRV-RS-011).
    private var unknownMembers: [String] {
        let known: Set<String> = kind == .targetedManagedAppConfiguration ? ["settings"] : []
        // The values do not matter here, and those of Android may be none of iOS.
        let names = (document.object ?? [:]).mapValues { _ in JSONValue.null }
        guard let read = try? AppProtectionPolicy(graphJSON: .object(names)) else { return [] }
        return read.unreadMembers.keys.filter { !known.contains($0) }.sorted()
    }

    /// Tokens of settings that stand for nothing and reach apps as they are (SRV-RS-117), at most ten.
    private var unknownTokens: [String] {
        // The log keeps nothing of a secret value, which may look like a token.
        let values = (document["customSettings"]?.array ?? []).filter { !SecretValues.isSecret($0) }
            .compactMap { $0["value"]?.string }
        let unknown = Set(values.flatMap(ConfigurationTokens.unknown)).sorted()
        return unknown.prefix(10).map { String($0.prefix(64)) }
    }
}
