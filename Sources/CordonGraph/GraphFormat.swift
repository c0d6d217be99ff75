import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

extension Refusal {
    static func badRequest(_ message: String) -> Refusal { .init(.badRequest, "BadRequest", message) }

    static let notFound = Refusal(.notFound, "ResourceNotFound", "Nothing has this path or id.")

    static func methodNotAllowed(_ allowed: [String]) -> Refusal {
        .init(
            .methodNotAllowed, "MethodNotAllowed", "This path does not take this method.",
            headers: [.allow: allowed.sorted().joined(separator: ", ")])
    }

    static func notImplemented(_ message: String) -> Refusal { .init(.notImplemented, "NotImplemented", message) }
}

/// Refusals in Graph's envelope (SRV-OP-023, SRV-OP-025).
struct GraphFormat: Sendable {
    let stepUpAge: Int?
    let now: @Sendable () -> Date

    /// The envelope.
    ///
    /// - Parameter clientID: The id that the client gave its request, nil for none.
    func reply(to refusal: Refusal, id: String, clientID: String?) -> GraphReply {
        let details = refusal.details.map { detail -> JSONValue in
            ["code": .string(refusal.code), "target": .string(detail.target), "message": .string(detail.message)]
        }
        let body = GraphEnvelope.bytes(
            code: refusal.code, message: refusal.message, details: details, id: id, clientID: clientID, at: now())
        return GraphReply(refusal.status, GraphEnvelope.mediaType, body, headers: refusal.headers)
    }

    /// What a route threw, in Graph's words.
    func refusal(of error: any Error) -> Refusal {
        switch error {
        case let error as ServiceError where error.code == .staleSignIn:
            refusal(TokenRefusal(.staleSignIn, error.reason))
        case let error as ServiceError: Self.refusal(error)
        case let error as TokenRefusal: refusal(error)
        case let refusal as Refusal: Self.named(refusal)
        default: Self.unexpected
        }
    }

    private static let unexpected = Refusal(
        .internalServerError, "InternalServerError", "Something unexpected went wrong.")

    /// The refusal of a service error; the directory has words of its own for two of them.
    static func refusal(_ error: ServiceError, isDirectory: Bool = false) -> Refusal {
        let message = "\(error.reason). \(error.hint)"
        var refusal: Refusal =
            switch error.code {
            case .forbidden:
                .init(.forbidden, isDirectory ? "Authorization_RequestDenied" : "Forbidden", message)
            case .notFound:
                .init(.notFound, isDirectory ? "Request_ResourceNotFound" : "ResourceNotFound", message)
            case .invalid: .init(.badRequest, "BadRequest", message)
            case .conflict, .waiting: .init(.conflict, "Conflict", message)
            case .staleSignIn: .init(.unauthorized, "InvalidAuthenticationToken", message)
            case .preconditionFailed: .init(.preconditionFailed, "PreconditionFailed", message)
            case .tooManyRequests: .init(.tooManyRequests, "TooManyRequests", message)
            case .storageDamaged, .storageNewer, .storageUnavailable, .keyUnavailable:
                .init(.serviceUnavailable, "ServiceUnavailable", "The service cannot do its work at the moment.")
            case .wrongKey, .enrollment, .accountDisabled, .internalError: unexpected
            }
        refusal.details = error.problems.map { .init(target: $0.member, message: $0.reason) }
        if error.code == .waiting { refusal.headers[.waitingChange] = error.place }
        if refusal.status == .tooManyRequests || refusal.status == .serviceUnavailable {
            // Longer waits make common clients give up at once (SRV-OP-026).
            refusal.headers[.retryAfter] = String(min(error.retryAfterSeconds ?? 30, 170))
        }
        return refusal
    }

    private func refusal(_ refusal: TokenRefusal) -> Refusal {
        let message = "\(refusal.reason). \(refusal.hint)"
        var challenge: HTTPFields = [.wwwAuthenticate: refusal.bearerChallenge(maxAge: stepUpAge)]
        challenge[.dpopNonce] = refusal.nonce
        return switch refusal.code {
        case .issuerUnavailable:
            Refusal(.serviceUnavailable, "ServiceUnavailable", message, headers: [.retryAfter: "30"])
        case .busy: Refusal(.serviceUnavailable, "ServiceUnavailable", message, headers: [.retryAfter: "60"])
        case .insufficientScope: Refusal(.forbidden, "Forbidden", message, headers: challenge)
        default: Refusal(.unauthorized, "InvalidAuthenticationToken", message, headers: challenge)
        }
    }

    /// A refusal from below the routes, with Graph's names of codes.
    private static func named(_ refusal: Refusal) -> Refusal {
        switch refusal {
        case .bodyTooLarge(0): Refusal(.contentTooLarge, "RequestEntityTooLarge", refusal.message)
        case .malformedBody(""):
            .badRequest("The body is not JSON that this service reads (\(refusal.detail ?? "")).")
        case .mediaType:
            Refusal(.unsupportedMediaType, "UnsupportedMediaType", "The body must be application/json.")
        case .contentCoding: Refusal(.unsupportedMediaType, "UnsupportedMediaType", refusal.message)
        case .interrupted: .badRequest(refusal.message)
        case _ where refusal.status == .tooManyRequests:
            Refusal(refusal.status, "TooManyRequests", refusal.message, headers: refusal.headers)
        case _ where refusal.status == .serviceUnavailable:
            Refusal(refusal.status, "ServiceUnavailable", refusal.message, headers: refusal.headers)
        default: refusal
        }
    }
}
