public import CordonIdentity

/// A person in a ``FakeIdentityProvider``'s directory.
public struct FakePerson: Sendable, Hashable {
    /// The provider's own name for the person, the `sub` claim.
    public var subject: String
    /// The directory object id, the `oid` claim; nil for a provider that has none.
    public var objectID: String?
    /// The tenant id, the `tid` claim; nil for a provider that has none.
    public var tenant: String?
    /// The sign-in name.
    public var userName: String
    /// The name to show.
    public var name: String
    /// The directory roles in the person's access tokens, the `wids` claim.
    public var roles: [String]

    /// Makes a person; object id and tenant are what directories of organisations add.
    public init(
        _ userName: String, subject: String, objectID: String? = nil, tenant: String? = nil, name: String = "",
        roles: [String] = []
    ) {
        self.userName = userName
        self.subject = subject
        self.objectID = objectID
        self.tenant = tenant
        self.name = name
        self.roles = roles
    }

    /// The id that a client knows the person by.
    public var account: AccountID { AccountID(objectID ?? subject) }

    /// A worker of the organisation `contoso`.
    public static let worker = FakePerson(
        "worker-a@contoso.example", subject: "sub-worker-a", objectID: "oid-worker-a", tenant: "contoso",
        name: "Worker A")
    /// Another worker of the same organisation.
    public static let otherWorker = FakePerson(
        "worker-b@contoso.example", subject: "sub-worker-b", objectID: "oid-worker-b", tenant: "contoso",
        name: "Worker B")
}
