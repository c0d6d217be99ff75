/// An organisation's account on this device, with the tenant it belongs to.
///
/// A sign-in gives one, and `AppProtection` of `Cordon` takes it from there. A wipe removes what Cordon keeps under ``id``.
///
/// ```swift
/// let account = try await signIn.signIn(request, browser: browser).account.managed
/// await protection.enroll(account)
/// ```
public struct ManagedAccount: Sendable, Hashable, Codable, Identifiable {
    /// The account's directory object id.
    public let id: AccountID
    /// The organisation it belongs to.
    public let tenant: TenantID
    /// The name the person signs in with; for display and for matching with an allow list, never a key.
    public let userPrincipalName: String

    /// Makes an account from what the identity provider said of it.
    public init(id: AccountID, tenant: TenantID, userPrincipalName: String) {
        self.id = id
        self.tenant = tenant
        self.userPrincipalName = userPrincipalName
    }
}
