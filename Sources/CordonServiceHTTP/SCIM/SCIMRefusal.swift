import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// A refusal in the form of RFC 7644 §3.12.
struct SCIMRefusal: Error {
    var status: Int
    /// The kind of a 400 or 409, in the standard's words.
    var kind: String?
    var detail: String
    var headers: HTTPFields = [:]

    init(_ status: Int, _ detail: String, kind: String? = nil, headers: HTTPFields = [:]) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.headers = headers
    }

    init(_ error: ServiceError) {
        switch error.code {
        case .forbidden: self.init(403, error.reason)
        case .notFound: self.init(404, error.reason)
        case .conflict: self.init(409, error.reason, kind: "uniqueness")
        case .invalid: self.init(400, error.reason, kind: "invalidValue")
        case .preconditionFailed: self.init(412, error.reason)
        case .tooManyRequests:
            self.init(429, error.reason, headers: [.retryAfter: String(error.retryAfterSeconds ?? 60)])
        case .storageUnavailable, .storageDamaged, .storageNewer, .keyUnavailable:
            self.init(503, "the service is not available", headers: [.retryAfter: "30"])
        case .wrongKey, .enrollment, .accountDisabled, .internalError: self.init(500, "an internal error")
        }
    }

    init(_ refusal: TokenRefusal) {
        switch refusal.code {
        case .insufficientScope: self.init(403, refusal.reason)
        case .issuerUnavailable: self.init(503, refusal.reason, headers: [.retryAfter: "30"])
        default: self.init(401, refusal.reason, headers: [.wwwAuthenticate: "Bearer"])
        }
    }

    init(_ error: BodyError) {
        switch error {
        case .tooLarge(let limit): self.init(413, "the body is larger than \(limit) bytes")
        case .notJSON(let place): self.init(400, "the body is not JSON: \(place)", kind: "invalidSyntax")
        case .wrongMediaType: self.init(415, "the body must be application/scim+json")
        case .unreadableCoding: self.init(415, "the body must be plain or packed with gzip")
        case .interrupted: self.init(400, "the body ended early")
        }
    }

    var response: Response {
        var members: [String: JSONValue] = [
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": .string(String(status)),
            "detail": .string(detail),
        ]
        if let kind { members["scimType"] = .string(kind) }
        return Response(
            HTTPResponse.Status(code: status), SCIMRoutes.mediaType, Data(JSONValue.object(members).text().utf8),
            headers: headers)
    }
}
