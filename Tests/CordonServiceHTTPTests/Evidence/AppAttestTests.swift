import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Crypto
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// SRV-CI-082: an app shows that it is the organisation's, on a genuine device.
@Suite struct AppAttestTests {
    private static let team = "9XK3M7QW2P"
    private static let app = "\(team).\(TestDevice.bundleID)"
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)
    private static let challenge = AppEvidence.challenge(registrationID: "r", keyThumbprint: "k", nonce: "n")

    private func verifier(
        _ maker: MadeAuthenticator, apps: Set<String> = [app], allowsDevelopment: Bool = false
    ) throws -> AppAttestVerifier {
        try #require(
            AppAttestVerifier(AppAttestSettings(apps: apps, allowsDevelopment: allowsDevelopment), root: maker.root))
    }

    @Test func `a made chain, nonce, key and app are found good, and counted on from nothing`() async throws {
        let maker = try MadeAuthenticator(app: Self.app, at: Self.now)
        let verifier = try verifier(maker)
        let evidence = try await verifier.attested(
            maker.attestation(Self.challenge), keyID: maker.keyID, challenge: Self.challenge,
            bundleID: TestDevice.bundleID, at: Self.now)
        #expect(evidence.app == Self.app && evidence.environment == "production" && evidence.counter == 0)
        let confirmed = try verifier.asserted(
            maker.assertion(Self.challenge, counter: 7), by: evidence, challenge: Self.challenge,
            bundleID: TestDevice.bundleID, at: Self.now + 60)
        #expect(confirmed.counter == 7 && confirmed.verified == Self.now + 60)
    }

    private static let lies: [(String, @Sendable (inout MadeAuthenticator.Lie) -> Void)] = [
        ("another format", { $0.format = "none" }), ("another app", { $0.app = "\(team).org.example.other" }),
        ("another team's app", { $0.app = "0000000000.\(TestDevice.bundleID)" }),
        ("a key that was used", { $0.counter = 1 }),
        ("the development environment", { $0.mark = Data("appattestdevelop".utf8) }),
        ("an authenticator of another kind", { $0.mark = Data(count: 16) }),
        ("another key's name", { $0.credentialID = Data(count: 32) }),
        ("a name of no length", { $0.credentialID = Data() }),
        ("another key than its certificate", { $0.tellsAnotherKey = true }),
        ("another nonce", { $0.nonce = Data(count: 32) }), ("a shorter nonce", { $0.nonce = Data(count: 31) }),
        ("a nonce under another tag", { $0.nonceHeader[2] = 0xa2 }), ("no nonce", { $0.omitsNonce = true }),
        ("an authority of its own", { $0.isAuthorityForeign = true }),
        ("a certificate that has ended", { $0.ends = -60 }),
        ("a chain that breaks off", { $0.omitsAuthority = true }), ("no key in the data", { $0.flags = 0 }),
        ("a certificate of another key", { $0.leafKey = P256.Signing.PrivateKey() }),
    ]

    @Test(arguments: lies.indices)
    func `an attestation that lies in one place is refused`(_ index: Int) async throws {
        let maker = try MadeAuthenticator(app: Self.app, at: Self.now)
        let (verifier, (what, change)) = (try verifier(maker), Self.lies[index])
        var lie = MadeAuthenticator.Lie()
        change(&lie)
        let attestation = try maker.attestation(Self.challenge, lie)
        await #expect(throws: Refusal.self, "\(what)") {
            try await verifier.attested(
                attestation, keyID: maker.keyID, challenge: Self.challenge, bundleID: TestDevice.bundleID, at: Self.now)
        }
    }

    @Test func `an attestation about something else, of another app, or under Apple's own root is refused`()
        async throws
    {
        let maker = try MadeAuthenticator(app: Self.app, at: Self.now)
        let good = try maker.attestation(Self.challenge)
        let apple = try #require(AppAttestVerifier(AppAttestSettings(apps: [Self.app])))
        let own = try verifier(maker)
        let other = AppEvidence.challenge(registrationID: "r2", keyThumbprint: "k", nonce: "n")
        let cases: [(String, AppAttestVerifier, Data, Data, Data, String, Date)] = [
            ("another root", apple, good, maker.keyID, Self.challenge, TestDevice.bundleID, Self.now),
            ("another registration", own, good, maker.keyID, other, TestDevice.bundleID, Self.now),
            ("another key's name", own, good, Data(count: 32), Self.challenge, TestDevice.bundleID, Self.now),
            ("an app of another name", own, good, maker.keyID, Self.challenge, "org.example.other", Self.now),
            (
                "a time at which the chain has ended", own, good, maker.keyID, Self.challenge, TestDevice.bundleID,
                Self.now + 8_640_000
            ),
            (
                "a time before the chain", own, good, maker.keyID, Self.challenge, TestDevice.bundleID,
                Self.now - 864_000
            ),
            ("bytes behind it", own, good + [0], maker.keyID, Self.challenge, TestDevice.bundleID, Self.now),
            ("nothing", own, Data(), maker.keyID, Self.challenge, TestDevice.bundleID, Self.now),
            (
                "half of it", own, good.prefix(good.count / 2), maker.keyID, Self.challenge, TestDevice.bundleID,
                Self.now
            ),
        ]
        for (what, verifier, bytes, key, challenge, bundleID, moment) in cases {
            await #expect(throws: Refusal.self, "\(what)") {
                try await verifier.attested(bytes, keyID: key, challenge: challenge, bundleID: bundleID, at: moment)
            }
        }
    }

    @Test func `keys of the development environment count where the setting says so`() async throws {
        let maker = try MadeAuthenticator(app: Self.app, at: Self.now)
        var lie = MadeAuthenticator.Lie()
        lie.mark = Data("appattestdevelop".utf8)
        let evidence = try await verifier(maker, allowsDevelopment: true).attested(
            maker.attestation(Self.challenge, lie), keyID: maker.keyID, challenge: Self.challenge,
            bundleID: TestDevice.bundleID, at: Self.now)
        #expect(evidence.environment == "development")
        let strict = try verifier(maker)
        #expect(throws: Refusal.self) {
            try strict.asserted(
                maker.assertion(Self.challenge, counter: 1), by: evidence, challenge: Self.challenge,
                bundleID: TestDevice.bundleID, at: Self.now)
        }
    }

    @Test func `an assertion counts once, by its own key, for its own app and moment`() async throws {
        let maker = try MadeAuthenticator(app: Self.app, at: Self.now)
        let verifier = try verifier(maker)
        var known = VerifiedEvidence(
            app: Self.app, environment: "production", keyID: maker.keyID,
            publicKey: maker.key.publicKey.x963Representation, counter: 5, verified: Self.now)
        let other = AppEvidence.challenge(registrationID: "r", keyThumbprint: "k", nonce: "n2")
        let refused: [(String, Data)] = [
            ("the same count", try maker.assertion(Self.challenge, counter: 5)),
            ("an earlier count", try maker.assertion(Self.challenge, counter: 4)),
            ("another moment", try maker.assertion(other, counter: 6)),
            ("another app", try maker.assertion(Self.challenge, counter: 6, app: "\(Self.team).org.example.other")),
            ("another key", try maker.assertion(Self.challenge, counter: 6, by: P256.Signing.PrivateKey())),
            ("an attestation", try maker.attestation(Self.challenge)), ("nothing", Data()),
        ]
        for (what, assertion) in refused {
            #expect(throws: Refusal.self, "\(what)") {
                try verifier.asserted(
                    assertion, by: known, challenge: Self.challenge, bundleID: TestDevice.bundleID, at: Self.now)
            }
        }
        known.refused = Self.now
        let confirmed = try verifier.asserted(
            maker.assertion(Self.challenge, counter: 6), by: known, challenge: Self.challenge,
            bundleID: TestDevice.bundleID, at: Self.now)
        #expect(confirmed.counter == 6 && confirmed.refused == nil)
    }

    @Test(arguments: [
        "org.example.fieldnotes", "9xk3m7qw2p.org.example.fieldnotes", "9XK3M7QW2P.", "9XK3M7QW2P", "",
        "9XK3M7QW2.org.example",
    ])
    func `what is no app id stops the service`(_ id: String) {
        var configuration = ServiceServerConfiguration(tenant: TenantID("contoso"))
        configuration.issuers = ["https://login.example.test"]
        configuration.appAttest = AppAttestSettings(apps: [id])
        #expect(throws: ProgramError.self) { try configuration.validate() }
    }

    @Test func `one bundle id of two teams stops the service, and Apple's root can be read`() throws {
        #expect(AppAttestSettings(apps: [Self.app, "0000000000.\(TestDevice.bundleID)"]).flaw != nil)
        #expect(AppAttestSettings(apps: [Self.app]).flaw == nil)
        #expect(AppAttestVerifier(AppAttestSettings(apps: [Self.app])) != nil)
    }
}
