import ArgumentParser
import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import Foundation
import Testing

@testable import CordonCommand

/// What `cordon serve config check` learns from providers, and how their settings are read.
@Suite struct IssuerCheckTests {
    private static let issuer = "https://login.example.test"

    /// A provider's discovery document and keys; nil where it does not answer.
    private struct Documents: IssuerDocuments {
        var metadata: JSONValue?
        var keys: JSONValue = [
            "keys": [
                [
                    "kty": "EC", "crv": "P-256", "kid": "k", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                ]
            ]
        ]

        func keySet(of issuer: String) async throws(TokenRefusal) -> Data { Data(keys.text().utf8) }

        func discovery(of issuer: String) async throws(TokenRefusal) -> Data {
            guard let metadata else { throw TokenRefusal(.issuerUnavailable, "the provider could not be reached") }
            return Data(metadata.text().utf8)
        }
    }

    private static let complete: [String: JSONValue] = [
        "issuer": .string(issuer), "authorization_endpoint": "https://login.example.test/authorize",
        "token_endpoint": "https://login.example.test/token",
        "device_authorization_endpoint": "https://login.example.test/device",
        "dpop_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["openid", "offline_access", "mam.checkin"],
    ]

    private func check(
        _ documents: Documents, issuer settings: String = #""https://login.example.test""#
    ) async throws -> IssuerCheck {
        try await withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"tenant": "contoso", "issuers": [\#(settings)]}"#.utf8).write(to: file)
            let plan = try ServeOptions.parse(["--config", file.path]).plan(environment: [:])
            return try #require(await IssuerCheck.all(of: plan.server, documents: documents).first)
        }
    }

    @Test func `a provider that has all that is needed has no problem, and one that does not answer has one`()
        async throws
    {
        let good = try await check(Documents(metadata: .object(Self.complete)))
        #expect(good.problems == [] && good.notes == [])
        let silent = try await check(Documents(metadata: nil))
        #expect(silent.problems == ["the provider could not be reached"])
    }

    @Test func `what a provider lacks is a problem where tokens would be refused, and a note where apps can see to it`()
        async throws
    {
        var poor = Self.complete
        for name in ["dpop_signing_alg_values_supported", "code_challenge_methods_supported", "token_endpoint"] {
            poor[name] = nil
        }
        poor["scopes_supported"] = ["openid"]
        var documents = Documents(metadata: .object(poor))
        let found = try await check(documents)
        #expect(found.problems.count == 2 && found.problems.contains { $0.contains("DPoP") })
        #expect(found.problems.contains { $0.contains("token_endpoint") })
        #expect(found.notes.contains { $0.contains("S256") } && found.notes.contains { $0.contains("mam.checkin") })
        // A check-in that proves the registration's key needs no DPoP of the provider.
        let other = try await check(
            documents, issuer: #"{"issuer": "https://login.example.test", "checkInProof": "registration"}"#)
        #expect(other.problems.count == 1)
        let key = documents.keys["keys"]?.array?.first ?? .null
        documents.keys = ["keys": [key, key]]
        #expect(try await check(documents).notes.contains { $0.contains("several keys under one id") })
        var unnamed = key.object ?? [:]
        unnamed["kid"] = nil
        documents.keys = ["keys": [.object(unnamed)]]
        #expect(try await !check(documents).problems.contains { $0.contains("publishes no key") })
        documents.keys = ["keys": []]
        #expect(try await check(documents).problems.contains { $0.contains("publishes no key") })
    }

    @Test func `a provider that names another issuer in access tokens is a problem until the settings say so`()
        async throws
    {
        var metadata = Self.complete
        metadata["access_token_issuer"] = "http://login.example.test/services/trust"
        let documents = Documents(metadata: .object(metadata))
        let problems = try await check(documents).problems
        #expect(
            problems.count == 1 && problems[0].contains("set tokenIssuer to http://login.example.test/services/trust"))
        let settings =
            #"{"issuer": "https://login.example.test", "tokenIssuer": "http://login.example.test/services/trust"}"#
        #expect(try await check(documents, issuer: settings).problems == [])
    }

    @Test func `what a provider's settings say is what is printed of them`() throws {
        let text = """
            {"issuer": "https://a.test", "tokenIssuer": "http://a.test/trust", "tokenTypes": ["none"],
             "accessTokenClaims": ["client_id"], "scopePrefixes": ["cordon/"],
             "claims": {"audience": ["client_id"], "signedIn": "signed_in"},
             "securityEvents": {"poll": "https://a.test/events", "tokenFile": "/etc/cordon/events.token"}}
            """
        let read = try JSONDecoder().decode(IssuerSettings.self, from: Data(text.utf8))
        #expect(read.profile?.audienceClaims == ["client_id"] && read.profile?.scopePrefixes == ["cordon/"])
        #expect(read.profile?.eventStream?.poll.absoluteString == "https://a.test/events")
        #expect(read.profile?.eventStream?.tokenFile?.path == "/etc/cordon/events.token")
        #expect(read.profile?.tokenIssuer == "http://a.test/trust" && read.profile?.signedInClaim == "signed_in")
        #expect(try JSONDecoder().decode(IssuerSettings.self, from: JSONEncoder().encode(read)) == read)
    }

    @Test func `a provider's settings that cannot tell an ID token from an access token are refused at the start`()
        throws
    {
        for (settings, word) in [
            (#"{"issuer": "https://a.test", "tokenTypes": ["JWT"]}"#, "accessTokenClaims"),
            (#"{"issuer": "https://a.test", "tokenTypes": ["at+jwt", "none"]}"#, "accessTokenClaims"),
            (#"{"issuer": "https://a.test", "tokenTypes": "JWT", "accessTokenClaims": ["uid", "nonce"]}"#, "nonce"),
            (#"{"issuer": "https://a.test", "tokenTypes": "JWT", "accessTokenClaims": "preferred_username"}"#, "too"),
            (#"{"issuer": "https://a.test", "tokenTypes": []}"#, "no type"),
            (#"{"issuer": "https://a.test", "securityEvents": {"poll": "http://a.test/events"}}"#, "neither https"),
            (#"{"issuer": "https://a.test", "claims": {"id": []}}"#, "id of a person"),
            (#"{"issuer": "https://a.test", "claims": {"audience": []}}"#, "audience"),
            (#"{"issuer": "https://a.test", "tokenIssuer": "https://b.test"}, "https://b.test""#, "two issuers"),
            (#"{"issuer": "https://a.test", "checkInAudience": "x", "administrationAudiences": ["x"]}"#, "share"),
        ] {
            try withServeFolder { folder in
                let file = folder.appending(path: "service.json")
                try Data(#"{"tenant": "contoso", "issuers": [\#(settings)]}"#.utf8).write(to: file)
                let plan = try ServeOptions.parse(["--config", file.path]).plan(environment: [:])
                #expect("\(settings)") { try plan.server.validate() } throws: { error in
                    (error as? ProgramError)?.reason.contains(word) == true
                }
            }
        }
    }

    @Test func `an unknown setting of a provider, or one of the wrong kind, is named`() throws {
        for (settings, word) in [
            (#"{"issuer": "https://a.test", "tokenType": ["JWT"]}"#, "tokenType"),
            (#"{"issuer": "https://a.test", "claims": {"role": "x"}}"#, "role"),
            (#"{"issuer": "https://a.test", "checkInProof": "none"}"#, "checkInProof"),
            (#"{"issuer": "https://a.test", "programs": "all"}"#, "programs"), (#"{"tokenTypes": ["JWT"]}"#, "issuer"),
        ] {
            try withServeFolder { folder in
                let file = folder.appending(path: "service.json")
                try Data(#"{"issuers": [\#(settings)]}"#.utf8).write(to: file)
                #expect("\(settings)") { _ = try ServeConfigurationFile(path: file.path) } throws: { error in
                    let failure = error as? CommandFailure
                    return failure?.status == .badInput && failure?.message.contains(word) == true
                }
            }
        }
    }

    @Test func `settings are printed as they are read, and naming an issuer by flag keeps its settings`() throws {
        let text =
            #"{"issuer": "https://a.test", "tokenTypes": ["JWT"], "accessTokenClaims": ["uid"], "#
            + #""claims": {"roles": ["/realm_access/roles"], "tenant": null}, "programs": "none", "#
            + #""checkInProof": "registration", "tokenRequest": {"scopes": ["a"]}, "impliedScopes": "b"}"#
        let read = try JSONDecoder().decode(IssuerSettings.self, from: Data(text.utf8))
        let again = try JSONDecoder().decode(IssuerSettings.self, from: JSONEncoder().encode(read))
        #expect(read == again && read.profile?.tenantClaim == nil && read.profile?.impliedScopes == ["b"])
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"issuers": [\#(text)]}"#.utf8).write(to: file)
            let arguments = ["--config", file.path, "--issuer", "https://b.test", "--issuer", "https://a.test"]
            let server = try ServeOptions.parse(arguments).plan(environment: [:]).server
            #expect(server.issuers == ["https://b.test", "https://a.test"])
            #expect(server.issuerProfiles == ["https://a.test": try #require(read.profile)])
        }
    }
}
