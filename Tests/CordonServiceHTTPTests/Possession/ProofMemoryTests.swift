import CordonBase
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
            service.clock.advance(by: 60)
            #expect(try await client.send(.post, path, as: device, request, same).status == .ok)
            // A recorded request takes nothing from the app's share.
            for _ in 0..<20 {
                #expect(try await client.send(.post, path, as: device, request, same).problem == "proof-replayed")
            }
            service.clock.advance(by: 60)
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
            for path in ["/v1.0/users", "/admin/v1/audit", "/scim/v2/Users"] {
                let headers: HTTPFields = [
                    .authorization: "DPoP \(token)", .dpop: try await client.proof(device, .get, path, token: token),
                ]
                let answer = try await client.client.execute(uri: path, method: .get, headers: headers)
                #expect(answer.status == .serviceUnavailable && answer.headers[.retryAfter] == "60", "\(path)")
                guard path.hasPrefix("/scim") else { continue }
                let problem = try JSONValue(parsing: Data(String(buffer: answer.body).utf8))
                #expect(answer.headers[.contentType] == "application/scim+json" && problem["status"] == "503")
                #expect(problem["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"])
            }
        }
    }

    @Test func `a proof without a nonce that was used before a restart is not good once more`() throws {
        let clock = SettableClock()
        let (key, url) = (SoftwareSigningKey(), try #require(URL(string: "http://127.0.0.1:8080/admin/v1/me")))
        func proof(_ id: String = "one") throws -> String {
            try DPoPProof.make(
                method: "GET", url: url, accessToken: nil, nonce: nil, issued: clock.now, id: id, signer: key)
        }
        func use(_ text: String, at proofs: ProofVerifier) throws {
            let proof = try proofs.check(
                [text], method: "GET", address: url.absoluteString, accessToken: nil, madeBy: key.publicKey.thumbprint,
                demandsNonce: false)
            try proofs.remember(proof, share: 3)
        }
        let used = try proof()
        let before = ProofVerifier(capacity: 10, now: { clock.now })
        try use(used, at: before)
        #expect(throws: Refusal.replayedProof) { try use(used, at: before) }
        clock.advance(by: 5)
        let after = ProofVerifier(capacity: 10, now: { clock.now }, running: { .zero })
        #expect(throws: Refusal.self) { try use(used, at: after) }
        try use(try proof(), at: after)
        // A clock that was ahead at the start and was set back since shuts no administrator out.
        clock.advance(by: -3_600)
        try use(try proof("two"), at: after)
        #expect(throws: Refusal.replayedProof) { try use(try proof(), at: after) }
        clock.advance(by: 3_600)
        // Nor does a clock that was wrong for a moment make proofs from before the start good.
        let running = Locked(Duration.zero)
        let unsteady = ProofVerifier(capacity: 10, now: { clock.now }, running: { running.withLock { $0 } })
        clock.advance(by: -200)
        try use(try proof("three"), at: unsteady)
        clock.advance(by: 201)
        running.withLock { $0 = .seconds(1) }
        #expect(throws: Refusal.self) { try use(used, at: unsteady) }
        try use(try proof("four"), at: unsteady)
    }

    @Test func `time that goes by while a proof is looked at makes none from before the start good`() throws {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let (key, url) = (SoftwareSigningKey(), try #require(URL(string: "http://127.0.0.1:8080/admin/v1/me")))
        // Each look at either clock takes a millisecond of both.
        let looks = Locked(0)
        @Sendable func passed() -> Double {
            looks.withLock { looks in
                looks += 1
                return Double(looks) / 1_000
            }
        }
        let proofs = ProofVerifier(
            capacity: 10, now: { start.addingTimeInterval(passed()) }, running: { .seconds(passed()) })
        func check(_ id: String, issued: Date) throws {
            let text = try DPoPProof.make(
                method: "GET", url: url, accessToken: nil, nonce: nil, issued: issued, id: id, signer: key)
            _ = try proofs.check(
                [text], method: "GET", address: url.absoluteString, accessToken: nil, madeBy: key.publicKey.thumbprint,
                demandsNonce: false)
        }
        #expect(throws: Refusal.self) { try check("before", issued: start.addingTimeInterval(-1)) }
        try check("since", issued: start)
    }

    @Test func `a key that has its share is refused, and others are not`() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let url = try #require(URL(string: "http://127.0.0.1:8080/mam/v1/registrations"))
        let proofs = ProofVerifier(capacity: 1_000, now: { now })
        func remember(_ id: String, by key: SoftwareSigningKey) throws {
            let text = try DPoPProof.make(
                method: "POST", url: url, accessToken: nil, nonce: nil, issued: now, id: id, signer: key)
            let proof = try proofs.check(
                [text], method: "POST", address: url.absoluteString, accessToken: nil, madeBy: key.publicKey.thumbprint,
                demandsNonce: false)
            try proofs.remember(proof, share: 3)
        }
        let (key, other) = (SoftwareSigningKey(), SoftwareSigningKey())
        for id in 0..<3 { try remember("\(id)", by: key) }
        #expect(throws: Refusal.busy) { try remember("3", by: key) }
        #expect(throws: Refusal.replayedProof) { try remember("0", by: key) }
        try remember("0", by: other)
    }
}
