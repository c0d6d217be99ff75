internal import CordonIdentity

/// Which renewals may share one answer.
struct RenewalKey: Hashable {
    let account: AccountID
    let resource: String?
    let scopes: Set<String>
    let claims: String?
}
