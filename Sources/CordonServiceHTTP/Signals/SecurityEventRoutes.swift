import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Where identity providers push security event tokens (RFC 8935): a session revoked ends tokens, an account disabled
/// ends its apps' access (SRV-CI-091). What lets a request in is the token's own signature.
struct SecurityEventRoutes: Sendable {
    static let path = "/cordon/v1/security-events"
    private static let largestBody = 64 << 10

    let receiver: SecurityEventReceiver

    func add(to router: some RouterMethods<ServiceRequestContext>) {
        router.post(RouterPath(Self.path)) { request, _ in
            try await take(request)
            return Response(status: .accepted, headers: [.contentLength: "0"])
        }
    }

    private func take(_ request: Request) async throws {
        guard request.headers[.contentType]?.lowercased().hasPrefix("application/secevent+jwt") == true else {
            throw SecurityEventProblem.malformed.refusal("the body must be application/secevent+jwt")
        }
        guard let bytes = try? await RequestBodyReader.bytes(request, atMost: Self.largestBody) else {
            throw SecurityEventProblem.malformed.refusal("the body is too large or not readable")
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        try await receiver.take(text)
    }
}

/// Refusals as RFC 8935 §2.4 has them; operators are told as well.
struct SecurityEventFormat: RefusalFormat {
    let refusals: TokenRefusalLog

    func answer(_ error: any Error, id: String) -> RefusalAnswer {
        let refusal = SecurityEventProblem.refusal(of: error)
        guard refusal.status == .badRequest else {
            return RefusalAnswer(
                response: Response(status: .serviceUnavailable, headers: [.retryAfter: "30", .contentLength: "0"]),
                failure: refusal.code)
        }
        refusals.note("a security event token was refused", code: refusal.code, reason: refusal.message)
        let body: JSONValue = ["err": .string(refusal.code), "description": .string(refusal.message)]
        return RefusalAnswer(
            response: Response(
                .badRequest, "application/json", Data(body.text().utf8), headers: [.contentLanguage: "en"]),
            failure: refusal.code)
    }
}
