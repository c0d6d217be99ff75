import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Where identity providers push security event tokens (RFC 8935): a session revoked ends tokens, an account disabled
/// ends its apps' access (SRV-CI-091). What lets a request in is the token's own signature.
struct SecurityEventRoutes: Sendable {
    static let path = "/cordon/v1/security-events"
    private static let largestBody = 64 << 10

    let events: SecurityEventVerifier
    let provisioning: Provisioning
    let revoked: RevokedSessions
    let logger: Logger

    func add(to router: some RouterMethods<BasicRequestContext>) {
        router.post(RouterPath(Self.path)) { request, context in
            let exchange = Exchange(request, context, logger: logger)
            var response: Response
            do throws(SecurityEventRefusal) {
                try await take(request)
                response = Response(status: .accepted, headers: [.contentLength: "0"])
                exchange.log(route: Self.path, status: 202)
            } catch {
                response = Self.refuse(error)
                if error.code != .unavailable {
                    events.refusals.note(
                        "a security event token was refused", code: error.code.rawValue, reason: error.reason)
                }
                exchange.log(route: Self.path, status: response.status.code, failure: error.code.rawValue)
            }
            response.headers[.requestID] = exchange.id
            response.headers[.cacheControl] = "no-store"
            return response
        }
    }

    private func take(_ request: Request) async throws(SecurityEventRefusal) {
        guard request.headers[.contentType]?.lowercased().hasPrefix("application/secevent+jwt") == true else {
            throw SecurityEventRefusal(code: .malformed, reason: "the body must be application/secevent+jwt")
        }
        let bytes: Data
        do {
            bytes = try await RequestBodyReader.bytes(request, atMost: Self.largestBody)
        } catch {
            throw SecurityEventRefusal(code: .malformed, reason: "the body is too large or not readable")
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let (issuer, signals) = try await events.signals(in: text)
        guard !signals.isEmpty else { return }
        do throws(ServiceError) {
            for signal in signals { try await provisioning.apply(signal, from: issuer, of: revoked.tenant) }
            try await revoked.reload()
        } catch {
            throw error.code == .invalid
                ? SecurityEventRefusal(code: .malformed, reason: error.reason)
                : SecurityEventRefusal(code: .unavailable, reason: "the service cannot do its work at the moment")
        }
    }

    private static func refuse(_ refusal: SecurityEventRefusal) -> Response {
        // Nothing but a status of 5xx makes a transmitter try again.
        guard refusal.code != .unavailable else {
            return Response(status: .serviceUnavailable, headers: [.retryAfter: "30", .contentLength: "0"])
        }
        let body: JSONValue = ["err": .string(refusal.code.rawValue), "description": .string(refusal.reason)]
        return Response(
            .badRequest, "application/json", Data(body.text().utf8), headers: [.contentLanguage: "en"])
    }
}
