import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore

@testable import CordonServiceHTTP

/// Sends requests as an app or as an administrator would.
struct TestClient: Sendable {
    let client: any TestClientProtocol
    let service: TestService

    /// What to change about a device's request, to see it refused.
    struct Changes: Sendable {
        var token: String?
        var omitsToken = false
        var proof: String?
        var omitsProof = false
        var headers: HTTPFields = [:]
    }

    func token(_ device: TestDevice) throws -> String {
        try service.issuer.token(
            TestIssuer.checkInClaims(device.person, key: device.key.publicKey, at: service.clock.now))
    }

    /// A nonce as the service hands it out with its challenge.
    func nonce() async throws -> String {
        try await client.execute(uri: "/mam/v1/registrations", method: .post).headers[.dpopNonce] ?? ""
    }

    func proof(
        _ device: TestDevice, _ method: HTTPRequest.Method, _ path: String, token: String?,
        id: String = UUID().uuidString,
        nonce: String? = nil, body: Data? = nil
    ) async throws -> String {
        let given = if let nonce { nonce } else { try await self.nonce() }
        return try DPoPProof.make(
            method: method.rawValue, url: URL(string: TestService.base + path) ?? URL(filePath: "/"),
            accessToken: token, nonce: given.isEmpty ? nil : given, body: body, issued: service.clock.now, id: id,
            signer: device.key)
    }

    @discardableResult
    func send(
        _ method: HTTPRequest.Method, _ path: String, as device: TestDevice, _ body: (any Encodable & Sendable)? = nil,
        _ changes: Changes = Changes()
    ) async throws -> TestResponse {
        let token = try changes.omitsToken ? nil : changes.token ?? self.token(device)
        var headers = changes.headers
        if let token { headers[.authorization] = "DPoP \(token)" }
        if !changes.omitsProof {
            let made = try await proof(device, method, path, token: token)
            headers[.dpop] = changes.proof ?? made
        }
        if body != nil { headers[.contentType] = "application/json" }
        let bytes = try body.map { ByteBuffer(bytes: try MessageCoding.encode($0)) }
        return try await client.execute(uri: path, method: method, headers: headers, body: bytes)
    }

    /// Registers a device; its registration and what it was told.
    func register(_ device: TestDevice) async throws -> RegistrationResult {
        let answer = try await send(.post, "/mam/v1/registrations", as: device, device.registration)
        return try MessageCoding.decode(RegistrationResult.self, from: Data(answer.body.readableBytesView))
    }

    /// Checks in as an app that has the newest envelope in force.
    func confirm(
        _ result: RegistrationResult, on device: TestDevice, health: [CheckInRequest.DeviceHealth] = []
    ) async throws {
        var request = device.checkIn(
            1, digest: SignedEnvelope(result.envelope).digest, at: service.clock.now)
        request.health = health
        let answer = try await send(
            .post, "/mam/v1/registrations/\(result.registrationID)/checkins", as: device, request)
        guard answer.status == .ok else { throw NotConfirmed(status: Int(answer.status.code)) }
    }

    /// A check-in that was refused.
    struct NotConfirmed: Error {
        var status: Int
    }

    /// Sends a request of an administrator.
    @discardableResult
    func administer(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, claims: [String: JSONValue]? = nil,
        headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var headers = headers
        let token = try service.issuer.token(
            claims ?? TestIssuer.administrationClaims(at: service.clock.now))
        headers[.authorization] = "Bearer \(token)"
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        return try await client.execute(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0.text()) })
    }
}

extension TestResponse {
    /// The body as JSON; null where it is none.
    var json: JSONValue { (try? JSONValue(parsing: Data(body.readableBytesView))) ?? .null }

    /// The last part of a problem document's type.
    var problem: String? { json["type"]?.string?.split(separator: ":").last.map(String.init) }
}
