import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// What the service remembers of proofs of possession, and when.
@Suite struct ProofMemoryTests {
    @Test func `a request that was held back leaves no proof behind`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let path = "/mam/v1/registrations/\(try await client.register(device).registrationID)/checkins"
            let request = device.checkIn(at: service.clock.now)
            for _ in 0..<10 { _ = try await client.send(.post, path, as: device, request) }
            let token = try client.token(device)
            let proof = try await client.proof(device, .post, path, token: token)
            let same = TestClient.Changes(token: token, proof: proof)
            for _ in 0..<3 {
                #expect(try await client.send(.post, path, as: device, request, same).status == .tooManyRequests)
            }
            service.clock.advance(60)
            #expect(try await client.send(.post, path, as: device, request, same).status == .ok)
            // A recorded request takes nothing from the app's share.
            for _ in 0..<20 {
                #expect(try await client.send(.post, path, as: device, request, same).problem == "proof-replayed")
            }
            service.clock.advance(60)
            #expect(try await client.send(.post, path, as: device, request).status == .ok)
        }
    }

    @Test func `a full memory is a service that is busy, for apps and administrators alike`() async throws {
        let service = try await TestService(rememberedProofs: 0)
        let device = TestDevice()
        var claims = TestIssuer.administrationClaims(at: service.clock.now)
        claims["cnf"] = ["jkt": .string(device.key.publicKey.thumbprint)]
        let bound = claims
        try await service.test { client in
            let app = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
            #expect(app.status == .serviceUnavailable && app.problem == "busy" && app.headers[.retryAfter] == "60")
            let token = try service.issuer.token(bound)
            for path in ["/v1.0/users", "/admin/v1/audit"] {
                let headers: HTTPFields = [
                    .authorization: "DPoP \(token)", .dpop: try await client.proof(device, .get, path, token: token),
                ]
                let answer = try await client.client.execute(uri: path, method: .get, headers: headers)
                #expect(answer.status == .serviceUnavailable && answer.headers[.retryAfter] == "60", "\(path)")
            }
        }
    }

    @Test func `one app fills its share of the memory, and nobody else's`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let (device, other) = (TestDevice(), TestDevice(tag: "tag-2"))
            // Leaving is limited for a person alone, so that a stubborn app comes far.
            let path = "/mam/v1/registrations/none"
            var statuses: [Int] = []
            for _ in 0..<ProofVerifier.shareOfApp + 4 {
                statuses.append(try await client.send(.delete, path, as: device).status.code)
            }
            #expect(statuses.prefix(ProofVerifier.shareOfApp).allSatisfy { $0 == 404 })
            #expect(statuses.suffix(4) == [503, 503, 503, 503])
            #expect(try await client.send(.delete, path, as: other).status == .notFound)
        }
    }
}
