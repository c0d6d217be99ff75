/// A role that an organisation made: permissions, who holds them, and for which policies (SRV-OP-020).
public struct CustomRole: Sendable, Codable, Hashable {
    /// The most groups or people that one role names.
    public static let mostMembers = 1_000

    /// The id.
    public let id: String
    /// The name, which no other role of the organisation has.
    public var displayName: String
    /// What the role is for.
    public var description: String?
    /// What its holders may do.
    public var permissions: Set<Permission>
    /// Who holds it: values of an access token's `groups` or `roles`, or `user:` and the object id of a person or program.
    public var members: Set<String>
    /// The scope tags whose policies the role is about, nil for every policy. People, devices and wipes carry no tags.
    public var scopeTags: Set<String>?
    /// The ids of the groups whose people's devices, wipes, blocks, logs and data the role is about, also through other groups; nil
    /// for every person. What holders read in lists is not limited by it.
    public var people: Set<String>?

    /// Makes a role.
    public init(
        id: String, displayName: String, description: String? = nil, permissions: Set<Permission>,
        members: Set<String>, scopeTags: Set<String>? = nil, people: Set<String>? = nil
    ) {
        self.id = id
        self.displayName = displayName
        self.description = description
        self.permissions = permissions
        self.members = members
        self.scopeTags = scopeTags
        self.people = people
    }

    private enum CodingKeys: String, CodingKey {
        case id, displayName, description, permissions, members, scopeTags, people
    }

    /// Writes the sets in order: what another person releases is known by a digest of these bytes, in the next process too.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(displayName, forKey: .displayName)
        try container.encodeIfPresent(description, forKey: .description)
        try container.encode(permissions.sorted { $0.rawValue < $1.rawValue }, forKey: .permissions)
        try container.encode(members.sorted(), forKey: .members)
        try container.encodeIfPresent(scopeTags?.sorted(), forKey: .scopeTags)
        try container.encodeIfPresent(people?.sorted(), forKey: .people)
    }

    /// Its members, each of a token's groups and roles as a group.
    var holders: Set<DirectoryGroup.Member> {
        let mark = "user:"
        return Set(members.map { $0.hasPrefix(mark) ? .user(String($0.dropFirst(mark.count))) : .group($0) })
    }

    /// What concerns every person at once, so that a role about some people does not include it: who writes groups says whom the role
    /// is about, and anyone may come to a shared device.
    private static let ofEverybody: Set<Permission> = [.writeDirectory, .registerDevices, .manageTenant, .readAudit]
    /// What concerns every policy at once: the audit log tells what each says, and who makes roles has any.
    private static let ofEveryPolicy: Set<Permission> = [.manageTenant, .readAudit]

    /// Whether the role includes a permission, for the policies and people that it is about.
    func includes(_ permission: Permission) -> Bool {
        permissions.contains(permission) && (people == nil || !Self.ofEverybody.contains(permission))
            && (scopeTags == nil || !Self.ofEveryPolicy.contains(permission))
    }

    /// Whether the role lets its holders do something with a policy that has these tags; without tags, with any policy.
    func covers(_ tags: Set<String>, for permission: Permission) -> Bool {
        includes(permission) && (scopeTags.map { !$0.isDisjoint(with: tags) } ?? true)
    }
}

extension CustomRole: AdministeredResource {
    /// Roles.
    public static var storageKind: StorageKind { .customRole }
    /// The id.
    public var storageID: String { id }
    /// The word for it in the audit log.
    public static var auditName: String { "role" }
    /// What the role says.
    public var entityVersion: String? { ContentVersion.of(self) }
    /// Who writes roles could give themselves any, so this takes an owner.
    public static var writing: Permission { .manageTenant }
    /// Roles target no one.
    public static var isTargeting: Bool { false }
    /// No two roles have one name.
    public var uniqueName: String? { displayName }

    /// What makes its holders able to release changes, or to make themselves so.
    static let sensitive: Set<Permission> = [.approve, .manageTenant]

    /// Whether it lets a person release changes or make roles who could not before.
    public func grantsMore(than before: CustomRole?) -> Bool {
        let new = permissions.intersection(Self.sensitive)
        guard let before else { return !new.isEmpty }
        return !new.isSubset(of: before.permissions) || (!new.isEmpty && !members.isSubset(of: before.members))
            || (!new.isEmpty && Self.isWider(scopeTags, than: before.scopeTags))
            || (!new.isEmpty && Self.isWider(people, than: before.people))
    }

    /// Whether a limit lets more through than another; none lets everything through.
    private static func isWider(_ limit: Set<String>?, than before: Set<String>?) -> Bool {
        guard let before else { return false }
        return limit.map { !$0.isSubset(of: before) } ?? true
    }

    /// What people read of the role.
    public var shownTexts: [StoredText] {
        [StoredText("displayName", displayName), StoredText("description", description, hasLines: true)]
            + StoredText.each("members", members) + StoredText.each("scopeTags", scopeTags ?? [])
            + StoredText.each("people", people ?? [])
    }

    /// Refuses a role without a name, members or permissions, or with the id of a built-in role.
    public func check() throws(ServiceError) {
        try checkName(displayName)
        try checkDirectoryID(id)
        guard AdministratorRole(rawValue: id) == nil else {
            throw ServiceError(.conflict, "a built-in role is not changed", place: id)
        }
        guard !permissions.isEmpty else { throw unacceptable("permissions", "needs at least one") }
        guard (1...Self.mostMembers).contains(members.count), members.allSatisfy({ (1...256).contains($0.utf8.count) })
        else { throw unacceptable("members", "needs 1 to \(Self.mostMembers) names of up to 256 bytes") }
        for member in members {
            if let flaw = ShownText.flaw(of: member, isName: true) {
                throw unacceptable("members", "has a name that \(flaw)")
            }
        }
        guard scopeTags.map({ (1...100).contains($0.count) }) ?? true else {
            throw unacceptable("scopeTags", "needs 1 to 100, or to be left out for every policy")
        }
        guard
            people.map({ (1...100).contains($0.count) && $0.allSatisfy { (1...128).contains($0.utf8.count) } }) ?? true
        else { throw unacceptable("people", "needs 1 to 100 groups, or to be left out for every person") }
    }
}
