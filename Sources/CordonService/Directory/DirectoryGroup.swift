/// A group of people and of other groups, under Graph's names (SRV-RS-154).
public struct DirectoryGroup: Sendable, Codable, Equatable {
    /// The directory object id.
    public var id: String
    /// The name to show.
    public var displayName: String
    /// What the group is for.
    public var description: String?
    /// The name before the `@` that an administrator gave it, nil for one made from ``displayName`` (SRV-OP-078).
    public var mailNickname: String?
    /// The direct members; membership is transitive (SRV-TG-04).
    public var members: Set<Member>

    /// A direct member.
    public enum Member: Sendable, Codable, Hashable {
        /// A person, by object id.
        case user(String)
        /// A group, by object id; its members are members too.
        case group(String)
    }

    /// Makes a group.
    public init(
        id: String, displayName: String, description: String? = nil, mailNickname: String? = nil,
        members: Set<Member> = []
    ) {
        self.id = id
        self.displayName = displayName
        self.description = description
        self.mailNickname = mailNickname
        self.members = members
    }
}
