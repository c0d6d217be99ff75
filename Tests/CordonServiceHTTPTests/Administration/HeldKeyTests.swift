import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import CordonServiceHTTP

/// A request that the service makes of itself shows the key of its token by holding it; one from the network by a proof alone.
@Suite struct HeldKeyTests {
    @Test
    func `a token bound to a key is good for who holds that key in this process, and for no other without a proof`()
        async throws
    {
        let service = try await TestService()
        let clock = service.clock
        let gate = AdministrationGate(
            tokens: AccessTokenVerifier(
                rules: TokenRules(
                    issuers: [TokenRules.TrustedIssuer(issuer: TestIssuer.name, tenant: TestService.tenant)],
                    checkInAudience: ServiceServerConfiguration.usualCheckInAudience,
                    administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience]),
                documents: service.issuer, now: { clock.now }),
            proofs: ProofVerifier(capacity: 100, now: { clock.now }, running: { .zero }), base: TestService.base,
            administration: service.service.administration,
            revoked: RevokedSessions(provisioning: service.service.provisioning, tenant: TestService.tenant),
            now: { clock.now })
        let (held, other) = (SoftwareSigningKey().publicKey.thumbprint, SoftwareSigningKey().publicKey.thumbprint)
        var claims = TestIssuer.administrationClaims(at: clock.now)
        claims["cnf"] = ["jkt": .string(held)]
        let bound = try service.issuer.token(claims)
        let context = ServiceRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test")))
        func ask(_ scheme: String, _ context: ServiceRequestContext) async throws -> String {
            let head = HTTPRequest(
                method: .get, scheme: "http", authority: "127.0.0.1", path: "/admin/v1/me",
                headerFields: [.authorization: "\(scheme) \(bound)"])
            return try await gate.token(of: Request(head: head, body: .init(buffer: ByteBuffer())), in: context)
                .subject.rawValue
        }
        #expect(try await ask("DPoP", context.item(holding: held)) == "oid-ada")
        for (scheme, context) in [
            ("DPoP", context), ("DPoP", context.item()), ("DPoP", context.item(holding: other)),
            ("DPoP", context.item(holding: "")), ("Bearer", context.item(holding: held)),
            ("DPoP", context.item(holding: held).item()),
        ] {
            await #expect("\(scheme)") { try await ask(scheme, context) } throws: {
                ($0 as? TokenRefusal)?.code == .unprovedKey
            }
        }
    }
}
