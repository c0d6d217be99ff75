import CordonService
import Foundation
import HTTPTypes

/// A refusal on the Graph-shaped routes, in Graph's envelope (SRV-OP-023, SRV-OP-025).
struct GraphRefusal: Error {
    /// One unacceptable member.
    struct Detail {
        var target: String
        var message: String
    }

    var status: HTTPResponse.Status
    var code: String
    var message: String
    var details: [Detail] = []
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:]) {
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
    }

    static func badRequest(_ message: String) -> GraphRefusal { .init(.badRequest, "BadRequest", message) }

    static let notFound = GraphRefusal(.notFound, "ResourceNotFound", "Nothing has this path or id.")

    static func methodNotAllowed(_ allowed: [String]) -> GraphRefusal {
        .init(
            .methodNotAllowed, "MethodNotAllowed", "This path does not take this method.",
            headers: [.allow: allowed.sorted().joined(separator: ", ")])
    }

    static func notImplemented(_ message: String) -> GraphRefusal {
        .init(.notImplemented, "NotImplemented", message)
    }

    /// The refusal of a service error; the directory has words of its own for two of them.
    init(_ error: ServiceError, isDirectory: Bool = false) {
        let message = "\(error.reason). \(error.hint)"
        switch error.code {
        case .forbidden:
            self.init(.forbidden, isDirectory ? "Authorization_RequestDenied" : "Forbidden", message)
        case .notFound:
            self.init(.notFound, isDirectory ? "Request_ResourceNotFound" : "ResourceNotFound", message)
        case .invalid: self.init(.badRequest, "BadRequest", message)
        case .conflict: self.init(.conflict, "Conflict", message)
        case .preconditionFailed: self.init(.preconditionFailed, "PreconditionFailed", message)
        case .tooManyRequests: self.init(.tooManyRequests, "TooManyRequests", message)
        case .storageDamaged, .storageNewer, .storageUnavailable, .keyUnavailable:
            self.init(.serviceUnavailable, "ServiceUnavailable", "The service cannot do its work at the moment.")
        case .wrongKey, .enrollment, .accountDisabled, .internalError:
            self.init(.internalServerError, "InternalServerError", "Something unexpected went wrong.")
        }
        details = error.problems.map { Detail(target: $0.member, message: $0.reason) }
        if status == .tooManyRequests || status == .serviceUnavailable {
            // Longer waits make common clients give up at once (SRV-OP-026).
            headers[.retryAfter] = String(min(error.retryAfterSeconds ?? 30, 170))
        }
    }

    init(_ error: BodyError) {
        switch error {
        case .tooLarge(let limit):
            self.init(.contentTooLarge, "RequestEntityTooLarge", "The body is larger than \(limit) bytes.")
        case .notJSON(let place): self = .badRequest("The body is not JSON that this service reads (\(place)).")
        case .wrongMediaType:
            self.init(.unsupportedMediaType, "UnsupportedMediaType", "The body must be application/json.")
        case .unreadableCoding:
            self.init(.unsupportedMediaType, "UnsupportedMediaType", "The body must be plain or packed with gzip.")
        case .interrupted: self = .badRequest("The body ended early.")
        }
    }

    init(_ refusal: TokenRefusal, stepUpAge: Int? = nil) {
        let message = "\(refusal.reason). \(refusal.hint)"
        switch refusal.code {
        case .issuerUnavailable:
            self.init(.serviceUnavailable, "ServiceUnavailable", message, headers: [.retryAfter: "30"])
        case .busy: self.init(.serviceUnavailable, "ServiceUnavailable", message, headers: [.retryAfter: "60"])
        case .insufficientScope:
            self.init(
                .forbidden, "Forbidden", message, headers: [.wwwAuthenticate: refusal.bearerChallenge(maxAge: nil)])
        default:
            self.init(
                .unauthorized, "InvalidAuthenticationToken", message,
                headers: [.wwwAuthenticate: refusal.bearerChallenge(maxAge: stepUpAge)])
        }
    }
}
