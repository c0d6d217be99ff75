internal import CordonIdentity
internal import CordonProtocol

/// For whom a transaction is made: their organisation, and which errors are refusals of who they are (SRV-CI-092).
protocol ServiceCaller: Sendable {
    /// The organisation.
    var tenant: TenantID { get }
    /// Who the audit log says was refused; nil for the service's own work, which is never refused.
    var actor: AuditRecord.Actor? { get }
    /// Whether a token or a key proves that the actor is the one named.
    var isProved: Bool { get }
    /// What the audit log says of the call besides, nil where only the change itself is told.
    var facts: CallFacts? { get }

    /// Whether an error refuses the caller for who they are, rather than for what they sent.
    func isRefused(by error: ServiceError) -> Bool
}

extension ServiceCaller {
    var isProved: Bool { true }
    var facts: CallFacts? { nil }
}

extension Administrator: ServiceCaller {
    var actor: AuditRecord.Actor? { AuditRecord.Actor(self) }
    var facts: CallFacts? {
        var facts = call
        facts.isOfProgram = isProgram
        return facts
    }

    func isRefused(by error: ServiceError) -> Bool { error.code == .forbidden }
}

extension DeviceCaller: ServiceCaller {
    var actor: AuditRecord.Actor? { AuditRecord.Actor(.device, id: keyThumbprint) }

    func isRefused(by error: ServiceError) -> Bool {
        switch error.status {
        case .notLicensed, .notEnrolledAccount, .alreadyEnrolled, .authenticationRequired: true
        default: error.code == .wrongKey || error.code == .staleSignIn
        }
    }
}

/// A shared device as a statement names it, before its signature is checked.
struct ClaimedDevice: ServiceCaller {
    let tenant: TenantID
    let id: String

    var actor: AuditRecord.Actor? { AuditRecord.Actor(.device, id: id) }
    var isProved: Bool { false }

    func isRefused(by error: ServiceError) -> Bool { error.code == .wrongKey }
}

/// The service's own work for an organisation.
extension TenantID: ServiceCaller {
    var tenant: TenantID { self }
    var actor: AuditRecord.Actor? { nil }

    func isRefused(by error: ServiceError) -> Bool { false }
}
