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

/// Whom an administration token is about; a program needs no scopes and no fresh sign-in, so it has to say that it is one.
@Suite struct PersonOrProgramTests {
    let issuer = TestIssuer()
    let clock = SettableClock()

    private static let nobody = JSONValue?.none

    static let cases: [(name: String, changes: [String: JSONValue?], isProgram: Bool)] = [
        ("a person", [:], false),
        ("a person without a name", ["preferred_username": nobody], false),
        ("a person without name and scopes", ["preferred_username": nobody, "scp": nobody], false),
        (
            "a person without name, scopes and time of sign-in",
            ["preferred_username": nobody, "scp": nobody, "auth_time": nobody], false
        ),
        (
            "a person who chose the client's id", ["preferred_username": nobody, "sub": "cordon-cli", "oid": nobody],
            false
        ),
        ("a person with the client's id and a name", ["sub": "cordon-cli", "oid": nobody, "auth_time": nobody], false),
        (
            "a person, as the provider says",
            ["idtyp": "user", "preferred_username": nobody, "sub": "cordon-cli", "auth_time": nobody], false
        ),
        ("a program, as the provider says", ["idtyp": "app"], true),
        (
            "a program by client_id",
            ["preferred_username": nobody, "sub": "cordon-cli", "oid": nobody, "auth_time": nobody], true
        ),
        (
            "a program by azp",
            ["preferred_username": nobody, "client_id": nobody, "azp": "p", "sub": "p", "auth_time": nobody], true
        ),
        (
            "a program by cid",
            ["preferred_username": nobody, "client_id": nobody, "cid": "p", "sub": "p", "auth_time": nobody], true
        ),
    ]

    @Test(arguments: cases.indices)
    func `a token is a program's only where it says so`(_ index: Int) async throws {
        let clock = clock
        let verifier = AccessTokenVerifier(
            rules: TokenRules(
                issuers: [.init(issuer: TestIssuer.name, tenant: TestService.tenant)],
                checkInAudience: ServiceServerConfiguration.usualCheckInAudience,
                administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience]),
            documents: issuer, now: { clock.now })
        let (name, changes, isProgram) = Self.cases[index]
        var claims = TestIssuer.administrationClaims(at: clock.now)
        for (claim, value) in changes { claims[claim] = value }
        let token = try await verifier.verify(try issuer.token(claims), for: .administration)
        #expect(token.isApplication == isProgram, "\(name)")
        if isProgram { #expect(token.account == nil) }
    }
}
