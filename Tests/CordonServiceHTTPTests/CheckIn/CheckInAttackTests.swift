import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// Whatever a stranger, a thief of a token or a recorded request may try on the check-in routes.
@Suite struct CheckInAttackTests {
    private static let path = "/mam/v1/registrations"

    private func attack(
        _ status: Int, _ problem: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ changes: @escaping @Sendable (TestClient, TestDevice) async throws -> TestClient.Changes
    ) async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let answer = try await client.send(
                .post, Self.path, as: device, device.registration, try await changes(client, device))
            #expect(answer.status.code == status, sourceLocation: sourceLocation)
            #expect(answer.problem == problem, sourceLocation: sourceLocation)
            if status == 401 {
                #expect(answer.headers[.wwwAuthenticate]?.hasPrefix("DPoP ") == true, sourceLocation: sourceLocation)
                #expect(answer.json["code"]?.integer == 203, sourceLocation: sourceLocation)
            }
            // Nothing came of it.
            let registrations = try await service.service.administration.registrations(.init(), as: TestService.owner)
            #expect(registrations.isEmpty, sourceLocation: sourceLocation)
        }
    }

    @Test func `without a token`() async throws {
        try await attack(401, "access-token") { _, _ in .init(omitsToken: true) }
    }

    @Test func `with the scheme Bearer`() async throws {
        try await attack(401, "access-token") { client, device in
            .init(omitsToken: true, headers: [.authorization: "Bearer \(try client.token(device))"])
        }
    }

    @Test func `without a proof`() async throws {
        try await attack(401, "proof-missing") { _, _ in .init(omitsProof: true) }
    }

    @Test func `with an administrator's token`() async throws {
        try await attack(401, "access-token") { client, _ in
            .init(token: try client.service.issuer.token(TestIssuer.administrationClaims(at: client.service.clock.now)))
        }
    }

    @Test func `with a token stolen from another device`() async throws {
        try await attack(401, "proof-invalid") { client, _ in .init(token: try client.token(TestDevice())) }
    }

    @Test func `with a proof for another address`() async throws {
        try await attack(401, "proof-invalid") { client, device in
            .init(proof: try await client.proof(device, .post, Self.path + "/x", token: try client.token(device)))
        }
    }

    @Test func `with a proof for another method`() async throws {
        try await attack(401, "proof-invalid") { client, device in
            let token = try client.token(device)
            return .init(token: token, proof: try await client.proof(device, .get, Self.path, token: token))
        }
    }

    @Test func `with a proof for another token`() async throws {
        try await attack(401, "proof-invalid") { client, device in
            .init(proof: try await client.proof(device, .post, Self.path, token: "another"))
        }
    }

    @Test func `with a proof without a token in it beside a token`() async throws {
        try await attack(401, "proof-invalid") { client, device in
            .init(proof: try await client.proof(device, .post, Self.path, token: nil))
        }
    }

    @Test func `with a proof without nonce, and the answer tells one`() async throws {
        let service = try await TestService()
        let device = TestDevice()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let token = try client.token(device)
            let proof = try await client.proof(device, .post, Self.path, token: token, nonce: "")
            let refused = try await client.send(
                .post, Self.path, as: device, device.registration, .init(token: token, proof: proof))
            #expect(refused.status == .unauthorized)
            #expect(refused.headers[.wwwAuthenticate]?.contains("error=\"use_dpop_nonce\"") == true)
            let nonce = try #require(refused.headers[.dpopNonce])
            let repeated = try await client.proof(device, .post, Self.path, token: token, nonce: nonce)
            let accepted = try await client.send(
                .post, Self.path, as: device, device.registration, .init(token: token, proof: repeated))
            #expect(accepted.status == .created)
        }
    }

    @Test func `with a stale nonce`() async throws {
        try await attack(401, "proof-nonce") { client, device in
            let nonce = try await client.nonce()
            client.service.clock.advance(by: TimeInterval(ProofNonces.lifetime) + 1)
            let token = try client.token(device)
            return .init(
                token: token, proof: try await client.proof(device, .post, Self.path, token: token, nonce: nonce))
        }
    }

    @Test func `with a nonce of another service`() async throws {
        try await attack(401, "proof-nonce") { client, device in
            let nonce = ProofNonces().nonce(at: client.service.clock.now)
            let token = try client.token(device)
            return .init(
                token: token, proof: try await client.proof(device, .post, Self.path, token: token, nonce: nonce))
        }
    }

    @Test func `with an old proof`() async throws {
        try await attack(401, "proof-invalid") { client, device in
            let token = try client.token(device)
            let proof = try await client.proof(device, .post, Self.path, token: token)
            client.service.clock.advance(by: DPoPProof.tolerance + 1)
            return .init(token: token, proof: proof)
        }
    }

    @Test func `with a recorded request sent again`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let token = try client.token(device)
            let changes = TestClient.Changes(
                token: token, proof: try await client.proof(device, .post, Self.path, token: token))
            let first = try await client.send(.post, Self.path, as: device, device.registration, changes)
            #expect(first.status == .created)
            for _ in 0..<3 {
                let again = try await client.send(.post, Self.path, as: device, device.registration, changes)
                #expect(again.status == .unauthorized)
                #expect(again.problem == "proof-replayed")
            }
        }
    }

    @Test func `with two proofs`() async throws {
        let service = try await TestService()
        let device = TestDevice()
        try await service.test { client in
            let token = try client.token(device)
            var headers: HTTPFields = [.authorization: "DPoP \(token)", .contentType: "application/json"]
            headers[values: .dpop] = [
                try await client.proof(device, .post, Self.path, token: token),
                try await client.proof(device, .post, Self.path, token: token),
            ]
            let answer = try await client.client.execute(uri: Self.path, method: .post, headers: headers)
            #expect(answer.problem == "proof-missing")
        }
    }

    @Test func `another device's registration answers nothing`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let victim = TestDevice()
        let thief = TestDevice(tag: "tag-2")
        try await service.test { client in
            let id = try await client.register(victim).registrationID
            let path = Self.path + "/\(id)"
            let checkIn = try await client.send(
                .post, path + "/checkins", as: thief, thief.checkIn(at: service.clock.now))
            #expect(checkIn.status == .forbidden)
            #expect(checkIn.json["envelope"] == nil)
            #expect(try await client.send(.delete, path, as: thief).status == .forbidden)
            #expect(try await client.send(.get, path + "/events", as: thief).status == .forbidden)
        }
    }

    @Test func `a token of another tenant opens no id of this one`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let id = try await client.register(device).registrationID
            let foreign = try service.issuer.token(
                TestIssuer.checkInClaims(
                    device.person, key: device.key.publicKey, at: service.clock.now, tenant: "fabrikam"))
            let answer = try await client.send(
                .post, Self.path + "/\(id)/checkins", as: device, device.checkIn(at: service.clock.now),
                .init(token: foreign))
            #expect(answer.status == .unauthorized)
        }
    }
}
