import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Refusals as problem details (RFC 9457, SRV-CI-027).
struct ProblemFormat: RefusalFormat {
    /// Who reads them.
    enum Reader {
        case device
        /// The device's codes mean nothing to administrators, and their tokens are challenged otherwise.
        ///
        /// - Parameter stepUpAge: How long ago, in seconds, they may have signed in for some requests.
        case administrator(stepUpAge: Int?)
    }

    let reader: Reader

    func answer(_ error: any Error, id: String) -> RefusalAnswer {
        let refusal = refusal(of: error)
        var problem = ProblemDetails(
            type: "urn:cordon:problem:" + refusal.code, title: refusal.message, status: refusal.status.code,
            detail: refusal.detail, code: refusal.enrollment,
            retryAfter: refusal.headers[.retryAfter].flatMap { Int($0) }, contact: refusal.contact)
        if case .administrator = reader { problem.code = nil }
        problem.traceID = id
        var headers = refusal.headers
        headers[.cacheControl] = "no-store"
        return RefusalAnswer(
            response: Response(
                HTTPResponse.Status(code: problem.status), ProblemDetails.mediaType,
                (try? MessageCoding.encode(problem)) ?? Data(), headers: headers),
            failure: problem.type, code: problem.code.map { "\($0.rawValue)" })
    }

    private func refusal(of error: any Error) -> Refusal {
        switch error {
        case let refusal as Refusal: return refusal
        case let error as ServiceError where error.code == .staleSignIn:
            return self.refusal(of: TokenRefusal(.staleSignIn, error.reason))
        case let error as ServiceError: return Self.refusal(error)
        case let error as TokenRefusal:
            var refusal = Self.refusal(error)
            refusal.contact = error.contact
            if case .administrator(let stepUpAge) = reader {
                refusal.headers[.wwwAuthenticate] = error.bearerChallenge(maxAge: stepUpAge)
                refusal.headers[.dpopNonce] = error.nonce
            }
            return refusal
        default:
            return Refusal(500, "internal", "The answer has no JSON form.", enrollment: .internalError)
        }
    }

    /// The refusal of an access token, with the challenge of RFC 9449 §7.1.
    private static func refusal(_ refusal: TokenRefusal) -> Refusal {
        let error: String
        let status: HTTPResponse.Status
        switch refusal.code {
        case .issuerUnavailable:
            return Refusal(
                .serviceUnavailable, "issuer-unavailable", "The identity provider cannot be reached.",
                detail: refusal.reason, enrollment: .internalError, headers: [.retryAfter: "30"])
        case .busy: return .busy
        case .insufficientScope: (error, status) = ("insufficient_scope", .forbidden)
        case .missing: (error, status) = ("", .unauthorized)
        // RFC 9470: the token is good, the sign-in behind it is too old.
        case .staleSignIn: (error, status) = ("insufficient_user_authentication", .unauthorized)
        default: (error, status) = ("invalid_token", .unauthorized)
        }
        return Refusal(
            status, "access-token", "The access token was refused.", detail: refusal.reason,
            enrollment: .authenticationRequired, headers: Refusal.challenge(error, refusal.reason))
    }

    /// What the service's refusal looks like.
    private static func refusal(_ error: ServiceError) -> Refusal {
        var detail = error.reason
        for problem in error.problems { detail += "; \(problem.member): \(problem.reason)" }
        let (kind, status, code) = meaning(of: error)
        // The status of an enrolment says itself what to do about it.
        if error.code != .enrollment { detail += ". \(error.hint)" }
        let seconds = error.retryAfterSeconds ?? (status == 503 ? 30 : nil)
        var headers: HTTPFields = seconds.map { [.retryAfter: String($0)] } ?? [:]
        if error.code == .waiting { headers[.waitingChange] = error.place }
        var refusal = Refusal(
            HTTPResponse.Status(code: status), kind, title(of: error),
            // What is wrong with the service's own machine is for its operators alone.
            detail: status >= 500 ? nil : detail, enrollment: code,
            headers: headers)
        refusal.contact = error.contact
        return refusal
    }

    /// What is the same for every refusal of one kind (RFC 9457 §3.1.3).
    private static func title(of error: ServiceError) -> String {
        switch error.code {
        case .forbidden: "The caller's roles do not allow this."
        case .notFound: "There is nothing with this id."
        case .invalid: "A value is not acceptable."
        case .conflict: "The present state does not allow this."
        case .staleSignIn: "The sign-in is too old for this."
        case .waiting: "Another administrator has to release this."
        case .preconditionFailed: "The entity was changed meanwhile."
        case .wrongKey: "The request is signed with another key."
        case .accountDisabled: "The account is disabled."
        case .tooManyRequests: "This was asked too often."
        case .enrollment: error.hint
        case .storageDamaged, .storageNewer, .storageUnavailable, .keyUnavailable:
            "The service cannot do this at the moment."
        case .internalError: "The service has a defect."
        }
    }

    private static func meaning(of error: ServiceError) -> (String, Int, EnrollmentStatus?) {
        switch error.code {
        case .forbidden: ("forbidden", 403, nil)
        case .notFound: ("not-found", 404, nil)
        case .invalid: ("invalid", 400, nil)
        case .conflict: ("conflict", 409, nil)
        case .staleSignIn: ("access-token", 401, nil)
        case .waiting: ("waiting", 409, nil)
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
