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

    @Test
    func `shortly after the start an administrator's proof without a nonce is asked for one, wherever it is sent`()
        async throws
    {
        let service = try await TestService()
        let device = TestDevice()
        var claims = TestIssuer.administrationClaims(at: service.clock.now)
        claims["cnf"] = ["jkt": .string(device.key.publicKey.thumbprint)]
        let token = try service.issuer.token(claims)
        try await service.test { client in
            for path in ["/v1.0/users", "/admin/v1/me", "/scim/v2/Users"] {
                func ask(_ nonce: String) async throws -> TestResponse {
                    let headers: HTTPFields = [
                        .authorization: "DPoP \(token)",
                        .dpop: try await client.proof(device, .get, path, token: token, nonce: nonce),
                    ]
                    return try await client.client.execute(uri: path, method: .get, headers: headers)
                }
                let asked = try await ask("")
                #expect(asked.status == .unauthorized, "\(path)")
                #expect(asked.headers[.wwwAuthenticate]?.hasPrefix("DPoP error=\"use_dpop_nonce\"") == true, "\(path)")
                let nonce = try #require(asked.headers[.dpopNonce])
                #expect(try await ask(nonce).status == .ok, "\(path)")
            }
        }
    }

    @Test func `a proof without a nonce that was used before a restart is not good once more`() throws {
        let clock = SettableClock()
        let (key, url) = (SoftwareSigningKey(), try #require(URL(string: "http://127.0.0.1:8080/admin/v1/me")))
        func proof(_ id: String = "one", nonce: String? = nil, ahead: TimeInterval = 0) throws -> String {
            try DPoPProof.make(
                method: "GET", url: url, accessToken: nil, nonce: nonce, issued: clock.now.addingTimeInterval(ahead),
                id: id, signer: key)
        }
        func use(_ text: String, at proofs: ProofVerifier) throws {
            let proof = try proofs.check(
                [text], method: "GET", address: url.absoluteString, accessToken: nil, madeBy: key.publicKey.thumbprint,
                demandsNonce: false)
            try proofs.remember(proof, share: 3)
        }
        let used = try proof()
        let before = ProofVerifier(capacity: 10, now: { clock.now }, running: { .seconds(120) })
        try use(used, at: before)
        #expect(throws: Refusal.replayedProof) { try use(used, at: before) }
        // Of a client whose clock is ahead by as much as it may be.
        let early = try proof("early", ahead: DPoPProof.tolerance)
        try use(early, at: before)
        clock.advance(by: 5)
        let passed = Locked(Duration.zero)
        let after = ProofVerifier(capacity: 10, now: { clock.now }, running: { passed.withLock { $0 } })
        #expect(throws: Refusal.staleNonce) { try use(used, at: after) }
        // One that was made since cannot be told from that of such a client, and says with a nonce that it is of this process.
        #expect(throws: Refusal.staleNonce) { try use(try proof("since"), at: after) }
        try use(try proof("since", nonce: after.nonces.nonce(at: clock.now)), at: after)
        for seconds in [0.0, 20, 40] {
            clock.advance(by: seconds)
            passed.withLock { $0 += .seconds(seconds) }
            #expect(throws: Refusal.staleNonce) { try use(early, at: after) }
        }
        #expect(throws: Refusal.staleNonce) { try use(try proof("a minute later"), at: after) }
        clock.advance(by: 1)
        passed.withLock { $0 += .seconds(1) }
        #expect(throws: Refusal.staleNonce) { try use(early, at: after) }
        try use(try proof("later still"), at: after)
        // A clock that was ahead at the start and was set back since shuts no administrator out.
        clock.advance(by: -3_600)
        try use(try proof("two"), at: after)
        #expect(throws: Refusal.replayedProof) { try use(try proof("two"), at: after) }
        clock.advance(by: 3_600)
        // Nor does a clock that was wrong for a moment make proofs from before the start good.
        let old = try proof("old", ahead: -10)
        let running = Locked(Duration.zero)
        let unsteady = ProofVerifier(capacity: 10, now: { clock.now }, running: { running.withLock { $0 } })
        clock.advance(by: -200)
        try use(try proof("three", nonce: unsteady.nonces.nonce(at: clock.now)), at: unsteady)
        clock.advance(by: 201)
        running.withLock { $0 = .seconds(1) }
        #expect(throws: Refusal.staleNonce) { try use(old, at: unsteady) }
        clock.advance(by: 60)
        running.withLock { $0 = .seconds(61) }
        try use(try proof("four"), at: unsteady)
    }

    @Test func `time that goes by while a proof is looked at makes none from before the start good`() throws {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let (key, url) = (SoftwareSigningKey(), try #require(URL(string: "http://127.0.0.1:8080/admin/v1/me")))
        // A minute and a half after the start. Each look at either clock takes a millisecond of both.
        let looks = Locked(90_000)
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
        let last = start.addingTimeInterval(DPoPProof.tolerance)
        #expect(throws: Refusal.staleNonce) { try check("perhaps from before", issued: last) }
        try check("since", issued: last.addingTimeInterval(1))
    }

    @Test func `a key that has its share is refused, and others are not`() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let url = try #require(URL(string: "http://127.0.0.1:8080/mam/v1/registrations"))
        let proofs = ProofVerifier(capacity: 1_000, now: { now }, running: { .seconds(120) })
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
