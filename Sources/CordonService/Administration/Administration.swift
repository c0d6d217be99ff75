internal import Logging

/// What administrators see and do: policies, people as they are known, registrations and wipes, settings, keys, the audit log
/// and reports.
///
/// Every call names the ``Administrator`` it is for, checks what their roles allow, and throws ``ServiceError`` with code
/// `forbidden` where they do not.
public struct Administration: Sendable {
    let store: TenantStore
    let targeting: Targeting
    let wipes: Wipes
    let review: ChangeReview
    let keys: KeyRing
    let ids: RandomID
    let configuration: ServiceConfiguration
    let logger: Logger
}
