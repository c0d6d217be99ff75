import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

extension Refusal {
    /// A refusal in the words of RFC 7644 §3.12.
    ///
    /// - Parameter kind: The kind of a 400 or 409, empty for none.
    static func scim(
        _ status: HTTPResponse.Status, _ detail: String, kind: String = "", headers: HTTPFields = [:]
    ) -> Refusal {
        Refusal(status, kind, detail, headers: headers)
    }
}

/// Refusals in the form of RFC 7644 §3.12.
struct SCIMFormat: RefusalFormat {
    /// Where a resource is; ids of people may hold what an address cannot.
    static func address(_ base: String, _ type: String, _ id: String) -> String {
        "\(base)/\(type)/\(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-", "_", ".", "~"])) ?? id)"
    }

    func answer(_ error: any Error, id: String) -> RefusalAnswer {
        let refusal = Self.refusal(of: error)
        var members: [String: JSONValue] = [
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
            "status": .string(String(refusal.status.code)), "detail": .string(refusal.message),
        ]
        if !refusal.code.isEmpty { members["scimType"] = .string(refusal.code) }
        return RefusalAnswer(
            response: Response(
                HTTPResponse.Status(code: refusal.status.code), SCIMRoutes.mediaType,
                Data(JSONValue.object(members).text().utf8), headers: refusal.headers),
            failure: refusal.code.isEmpty ? nil : refusal.code)
    }

    private static func refusal(of error: any Error) -> Refusal {
        switch error {
        case let error as ServiceError: refusal(error)
        case let error as TokenRefusal: refusal(error)
        case let refusal as Refusal: ofBody(refusal)
        default: .scim(500, "an internal error")
        }
    }

    private static func refusal(_ error: ServiceError) -> Refusal {
        switch error.code {
        case .forbidden: .scim(403, error.reason)
        case .notFound: .scim(404, error.reason)
        case .conflict: .scim(409, error.reason, kind: "uniqueness")
        case .waiting:
            .scim(409, "\(error.reason). \(error.hint)", headers: [.waitingChange: error.place ?? ""])
        case .staleSignIn: .scim(401, error.reason, headers: [.wwwAuthenticate: "Bearer"])
        case .invalid: .scim(400, error.reason, kind: "invalidValue")
        case .preconditionFailed: .scim(412, error.reason)
        case .tooManyRequests:
            .scim(429, error.reason, headers: [.retryAfter: String(error.retryAfterSeconds ?? 60)])
        case .storageUnavailable, .storageDamaged, .storageNewer, .keyUnavailable:
            .scim(503, "the service is not available", headers: [.retryAfter: "30"])
        case .wrongKey, .enrollment, .accountDisabled, .internalError: .scim(500, "an internal error")
        }
    }

    private static func refusal(_ refusal: TokenRefusal) -> Refusal {
        switch refusal.code {
        case .insufficientScope: .scim(403, refusal.reason)
        case .issuerUnavailable: .scim(503, refusal.reason, headers: [.retryAfter: "30"])
        case .busy: .scim(503, refusal.reason, headers: [.retryAfter: "60"])
        case .unprovedKey where refusal.nonce != nil:
            .scim(
                401, refusal.reason,
                headers: [
                    .wwwAuthenticate: refusal.bearerChallenge(maxAge: nil), .dpopNonce: refusal.nonce ?? "",
                ])
        default: .scim(401, refusal.reason, headers: [.wwwAuthenticate: "Bearer"])
        }
    }

    private static func ofBody(_ refusal: Refusal) -> Refusal {
        // The same words, as these details are written.
        let words = refusal.message.prefix(1).lowercased() + refusal.message.dropFirst().dropLast()
        return switch refusal {
        case .malformedBody(""):
            .scim(400, "the body is not JSON: \(refusal.detail ?? "")", kind: "invalidSyntax")
        case .mediaType: .scim(415, "the body must be application/scim+json")
        case .bodyTooLarge(0), .contentCoding, .interrupted: .scim(refusal.status, words)
        default: refusal
        }
    }
}
