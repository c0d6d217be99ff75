import CordonProtocol
import CordonService

extension CheckInRefusal {
    /// What the service's refusal looks like to a device.
    init(_ error: ServiceError) {
        var detail = error.reason
        for problem in error.problems { detail += "; \(problem.member): \(problem.reason)" }
        let (kind, status, code) = Self.meaning(of: error)
        self.init(
            ProblemDetails(
                type: "urn:cordon:problem:" + kind, title: error.hint, status: status,
                detail: status >= 500 ? nil : detail, code: code,
                retryAfter: error.retryAfterSeconds ?? (status == 503 ? 30 : nil)))
    }

    private static func meaning(of error: ServiceError) -> (String, Int, EnrollmentStatus?) {
        switch error.code {
        case .forbidden: ("forbidden", 403, nil)
        case .notFound: ("not-found", 404, nil)
        case .invalid: ("invalid", 400, nil)
        case .conflict: ("conflict", 409, nil)
        case .preconditionFailed: ("precondition", 412, nil)
        case .wrongKey: ("wrong-key", 403, .notEnrolled)
        case .tooManyRequests: ("too-many-requests", 429, nil)
        case .storageDamaged, .storageNewer, .storageUnavailable, .keyUnavailable:
            ("unavailable", 503, .internalError)
        case .internalError: ("internal", 500, .internalError)
        case .accountDisabled: ("account-disabled", 403, error.status)
        case .enrollment: ("enrollment", status(of: error.status ?? .internalError), error.status ?? .internalError)
        }
    }

    /// The HTTP status that carries an enrolment status (SRV-CI-018, SRV-CI-019, §3.3).
    private static func status(of code: EnrollmentStatus) -> Int {
        switch code {
        case .authenticationRequired: 401
        case .notLicensed, .notTargeted, .enrollmentRefused, .notEnrolledAccount: 403
        case .notEnrolled: 404
        case .alreadyEnrolled, .singleAccountOnly: 409
        case .registrationGone: 410
        case .tenantMigration: 503
        default: 500
        }
    }
}
