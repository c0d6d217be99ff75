internal import CordonIdentity
internal import Foundation

/// A person of the organisation, under Graph's names (SRV-RS-153).
public struct DirectoryUser: Sendable, Codable, Equatable {
    /// The directory object id.
    public var id: String
    /// The name the person signs in with; compared without case.
    public var userPrincipalName: String
    /// The name to show.
    public var displayName: String
    /// The mail address.
    public var mail: String?
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var surname: String?
    /// The job title.
    public var jobTitle: String?
    /// The department.
    public var department: String?
    /// Whether the account may sign in.
    public var accountEnabled: Bool
    /// Whether the person is entitled to app protection (status 200 otherwise).
    public var isLicensed: Bool

    /// Whether an id that a provider gave is this person's. `sub` is compared with its case (OpenID Connect Core §2), so that
    /// a person who may choose one cannot become another; a UUID is the same in any case (RFC 9562 §4).
    func isNamed(by id: AccountID) -> Bool {
        id.rawValue == self.id || UUID(uuidString: self.id) != nil && id == AccountID(self.id)
    }

    /// Makes a person.
    public init(
        id: String, userPrincipalName: String, displayName: String, mail: String? = nil, givenName: String? = nil,
        surname: String? = nil, jobTitle: String? = nil, department: String? = nil, accountEnabled: Bool = true,
        isLicensed: Bool = true
    ) {
        self.id = id
        self.userPrincipalName = userPrincipalName
        self.displayName = displayName
        self.mail = mail
        self.givenName = givenName
        self.surname = surname
        self.jobTitle = jobTitle
        self.department = department
        self.accountEnabled = accountEnabled
        self.isLicensed = isLicensed
    }
}
