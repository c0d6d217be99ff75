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

    let events: SecurityEventVerifier
    let provisioning: Provisioning
    let revoked: RevokedSessions

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
        let (issuer, signals) = try await events.signals(in: text)
        for signal in signals {
            let (person, isKnown): (String, Bool)
            do {
                (person, isKnown) = try await provisioning.apply(signal, from: issuer, of: revoked.tenant)
            } catch {
                // Where the account's end waits, its sessions have ended nevertheless.
                if error.code == .waiting { try await revoked.reload() }
                throw error
            }
            // Before the next signal, which may be refused.
            try await revoked.reload(person: person)
            guard !isKnown else { continue }
            events.refusals.note(
                "a security event is about a person who is not known here", code: "unknown-subject",
                reason: "compare what its subject is called with oid and sub of the provider's tokens", of: issuer)
        }
    }
}

/// Refusals as RFC 8935 §2.4 has them; operators are told as well.
struct SecurityEventFormat: RefusalFormat {
    let refusals: TokenRefusalLog

    func answer(_ error: any Error, id: String) -> RefusalAnswer {
        let refusal = refusal(of: error)
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

    private func refusal(of error: any Error) -> Refusal {
        if let refusal = error as? Refusal { return refusal }
        if let error = error as? ServiceError, error.code == .invalid {
            return SecurityEventProblem.malformed.refusal(error.reason)
        }
        return SecurityEventProblem.unavailable.refusal("the service cannot do its work at the moment")
    }
}
