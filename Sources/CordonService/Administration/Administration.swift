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

    /// What policies and filters said before, and which rules an app had when.
    public var history: VersionHistory { VersionHistory(administration: self) }

    /// Changes that wait for a second person.
    public var approvals: Approvals { Approvals(store: store, targeting: targeting, configuration: configuration) }

    /// What people may ask about themselves: an export of their data, and its erasure.
    public var personalData: PersonalDataRequests { PersonalDataRequests(administration: self) }

    /// The words by which callers filter reports.
    public var reportFilters: ReportFilters { ReportFilters(store: store, ids: ids) }

    var writer: PolicyWriter {
        PolicyWriter(
            store: store, targeting: targeting, review: review, ids: ids, configuration: configuration, logger: logger)
    }

    /// What a change would do: whose rules change, who would lose data, which policy decides, and a token that binds the number to
    /// the change and the version that it was counted for.
    ///
    /// Nothing is written, and no writer waits: apps are read outside, one set after the other.
    ///
    /// - Throws: ``ServiceError`` as the change itself where it cannot be meant or may not be made.
    public func impact(
        of question: ImpactQuestion, as administrator: Administrator
    ) async throws(ServiceError) -> Impact {
        try await writer.impact(of: question, as: administrator, history: history)
    }
}
