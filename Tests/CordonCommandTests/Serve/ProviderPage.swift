import ArgumentParser
import CordonBase
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Crypto
import CryptoExtras
import Foundation
import Testing

@testable import CordonCommand

/// A provider of `docs/providers.md`: the settings that the page gives for it, and tokens as its own documents have them.
struct DocumentedProvider: Sendable {
    /// The section of the page, and the file of `Tests/Vectors/providers`.
    static let all = [
        ("Keycloak", "keycloak"), ("Okta", "okta"), ("Entra ID", "entra"), ("Authentik", "authentik"),
        ("Zitadel", "zitadel"), ("Amazon Cognito", "cognito"), ("Auth0", "auth0"),
    ]

    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    let name: String
    /// The settings of the page.
    let settings: String
    private let vectors: JSONValue

    init(_ name: String, _ file: String) throws {
        self.name = name
        let page = try String(contentsOf: Self.root.appending(path: "docs/providers.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## \(name)\n").dropFirst().first)
        let block = try #require(
            section.components(separatedBy: "\n## ").first?.components(separatedBy: "```json\n").dropFirst().first)
        settings = try #require(block.components(separatedBy: "```").first)
        vectors = try JSONValue(
            parsing: Data(contentsOf: Self.root.appending(path: "Tests/Vectors/providers/\(file).json")))
    }

    /// What the program makes of the page's settings, to be served on loopback.
    func plan(in folder: URL) throws -> ServePlan {
        let file = folder.appending(path: "service.json")
        try Data(settings.utf8).write(to: file)
        return try ServeOptions.parse(["--config", file.path, "--listen", "127.0.0.1:0"]).plan(environment: [:])
    }

    /// One documented token.
    struct Token: Sendable {
        let name: String
        let header: JSONValue
        let claims: [String: JSONValue]
        let side: TokenAudience
        /// What the refusal says; nil for a token that is accepted, but as a person's.
        let reason: String?

        /// Whether the provider binds it to the device's key.
        var isBound: Bool { claims["cnf"] != nil }

        /// The claims at a moment, of a device with a key: times are written down as seconds from now.
        func claims(at now: Date, boundTo thumbprint: String) -> JSONValue {
            var claims = claims
            for name in ["iat", "nbf", "exp", "auth_time"] {
                guard let offset = claims[name]?.integer else { continue }
                claims[name] = .integer(Int64(now.timeIntervalSince1970) + offset)
            }
            if isBound { claims["cnf"] = ["jkt": .string(thumbprint)] }
            return .object(claims)
        }
    }

    var checkIn: Token { get throws { try token(vectors["checkIn"], "checkIn", .checkIn) } }
    var administration: Token { get throws { try token(vectors["administration"], "administration", .administration) } }
    var program: Token { get throws { try token(vectors["program"], "program", .administration) } }

    /// Tokens that come near.
    var nearMisses: [Token] {
        get throws {
            try #require(vectors["nearMisses"]?.array).map { miss in
                try token(
                    miss, try #require(miss["name"]?.string),
                    try #require(miss["side"]?.string.flatMap(TokenAudience.init(rawValue:))))
            }
        }
    }

    private func token(_ value: JSONValue?, _ name: String, _ side: TokenAudience) throws -> Token {
        Token(
            name: name, header: try #require(value?["header"]),
            claims: try #require(value?["claims"]?.object).filter { $0.value != .null }, side: side,
            reason: value?["reason"]?.string)
    }
}

/// A provider's key: RSA, as all of them use.
struct ProviderKey: IssuerDocuments {
    private let key: _RSA.Signing.PrivateKey

    init() throws { key = try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    func keySet(of issuer: String) async throws(TokenRefusal) -> Data {
        guard let numbers = try? key.publicKey.getKeyPrimitives() else {
            throw TokenRefusal(.issuerUnavailable, "none")
        }
        let jwk: JSONValue = [
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": "provider-key",
            "n": .string(Base64URL.encode(numbers.modulus)), "e": .string(Base64URL.encode(numbers.publicExponent)),
        ]
        return Data(JSONValue.object(["keys": [jwk]]).text().utf8)
    }

    /// A token with these claims.
    func sign(_ token: DocumentedProvider.Token, at now: Date, boundTo thumbprint: String = "") throws -> String {
        let claims = token.claims(at: now, boundTo: thumbprint)
        let signed =
            Base64URL.encode(Data(token.header.text().utf8)) + "." + Base64URL.encode(Data(claims.text().utf8))
        let signature = try key.signature(for: SHA256.hash(data: Data(signed.utf8)), padding: .insecurePKCS1v1_5)
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }
}
