import Foundation

/// A small directory for development and demos: one tenant, its people and its groups.
///
/// It is a value kept in one JSON file. ``DevelopmentIdentityProvider`` signs its people in, and the service may seed
/// its own directory from it. It is not meant for production: there any OpenID provider takes its place.
public struct DevelopmentDirectory: Sendable, Equatable, Codable {
    /// Someone who can sign in.
    public struct Person: Sendable, Equatable, Codable, Identifiable {
        /// The object id: the `sub` and `oid` of every token. 1 to 128 URL-safe characters, never reused.
        public var id: String
        /// The name to sign in with, like `ada@example.test`; compared without case.
        public var userPrincipalName: String
        /// The name to show.
        public var displayName: String
        /// Roles of the admin API; other audiences never see them.
        public var roles: [String]
        /// Whether the person may sign in and refresh tokens. Absent in the file means true.
        public var accountEnabled: Bool
        /// The password, hashed.
        public var password: DirectoryPassword

        /// Makes a person; nothing is checked before ``DevelopmentDirectory/validate()``.
        public init(
            id: String, userPrincipalName: String, displayName: String, roles: [String] = [],
            accountEnabled: Bool = true, password: DirectoryPassword
        ) {
            self.id = id
            self.userPrincipalName = userPrincipalName
            self.displayName = displayName
            self.roles = roles
            self.accountEnabled = accountEnabled
            self.password = password
        }

        /// Reads a person; `roles` and `accountEnabled` may be absent.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            userPrincipalName = try container.decode(String.self, forKey: .userPrincipalName)
            displayName = try container.decode(String.self, forKey: .displayName)
            roles = try container.decodeIfPresent([String].self, forKey: .roles) ?? []
            accountEnabled = try container.decodeIfPresent(Bool.self, forKey: .accountEnabled) ?? true
            password = try container.decode(DirectoryPassword.self, forKey: .password)
        }
    }

    /// A named set of people.
    public struct Group: Sendable, Equatable, Codable, Identifiable {
        /// The object id, 1 to 128 URL-safe characters.
        public var id: String
        /// The name to show.
        public var displayName: String
        /// Ids of the people in it.
        public var members: [String]

        /// Makes a group; nothing is checked before ``DevelopmentDirectory/validate()``.
        public init(id: String, displayName: String, members: [String] = []) {
            self.id = id
            self.displayName = displayName
            self.members = members
        }
    }

    /// The `tid` of every token.
    public var tenantID: String
    /// Everyone, in the order of the file.
    public var people: [Person]
    /// Every group, in the order of the file.
    public var groups: [Group]

    /// Makes a directory; nothing is checked before ``validate()``.
    public init(tenantID: String, people: [Person] = [], groups: [Group] = []) {
        self.tenantID = tenantID
        self.people = people
        self.groups = groups
    }

    private enum CodingKeys: String, CodingKey {
        case tenantID = "tenantId"
        case people, groups
    }

    /// The person with this object id.
    public func person(id: String) -> Person? {
        people.first { $0.id == id }
    }

    /// The person with this sign-in name, compared without case.
    public func person(userPrincipalName: String) -> Person? {
        let wanted = userPrincipalName.lowercased()
        return people.first { $0.userPrincipalName.lowercased() == wanted }
    }

    /// Groups that this person is a member of.
    public func groups(ofPerson id: String) -> [Group] {
        groups.filter { $0.members.contains(id) }
    }
}
