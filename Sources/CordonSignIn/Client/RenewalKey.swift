internal import CordonIdentity

/// Which renewals may share one answer.
struct RenewalKey: Hashable {
    let account: AccountID
    /// So that what was refused ends with its session, whichever process the person signs in again with.
    let session: SessionID
    let resource: String?
    let scopes: Set<String>
    let claims: String?
}
