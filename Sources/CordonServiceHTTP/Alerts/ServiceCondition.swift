/// Something about the service or its machine that an operator has to look at, for as long as it lasts (SRV-CI-092).
package struct ServiceCondition: Sendable, Equatable {
    /// What is the matter; the raw values stand in metrics, notices and `/readyz`.
    package enum Kind: String, Sendable, CaseIterable {
        /// The service cannot do its work: the store or a key cannot be used.
        case failing = "service.failing"
        /// The disk is almost full.
        case disk = "disk.low"
        /// The last backup is old, or there is none.
        case backup = "backup.old"
        /// The certificate ends soon.
        case certificate = "certificate.ending"
        /// What the root key delegated ends soon, and the root key is elsewhere.
        case delegation = "delegation.ending"
        /// A provider's keys cannot be fetched.
        case provider = "provider.unreachable"
        /// A restored store waits for an administrator.
        case restored = "store.restored"
        /// The audit log was changed outside the service.
        case audit = "audit.changed"
        /// The directory file is not followed: it cannot be used, or a person has to release what it asks for.
        case directory = "directory.held"
        /// The clock says that the service was away for long, so that nothing is put away for a day.
        case clock = "clock.jumped"
    }

    /// What is the matter.
    package let kind: Kind
    /// What it is about where there may be several, such as an issuer; nil otherwise.
    package let subject: String?
    /// The words for the log.
    package let message: String
    /// What else is known, by the log's names.
    package let details: [String: String]

    /// Makes a condition.
    package init(_ kind: Kind, of subject: String? = nil, _ message: String, _ details: [String: String] = [:]) {
        self.kind = kind
        self.subject = subject
        self.message = message
        self.details = details
    }

    /// What tells one condition from another.
    package var name: String { subject.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue }
}
