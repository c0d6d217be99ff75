internal import CordonProtocol
internal import Foundation
internal import JWTKit

/// A provider's public keys (RFC 7517). A key of an unknown kind is left out, it does not spoil the others.
struct ProviderKeys: Sendable {
    private struct Entry: Sendable {
        let id: String?
        let algorithm: String?
        let family: String
        let key: JWK
    }
    private let entries: [Entry]

    /// The algorithms an ID token may be signed with, by key family; `none` and shared secrets are not among
    /// them, whatever the provider announces (SI-171).
    private static let algorithms: [String: Set<String>] = [
        "RSA": ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
        "P-256": ["ES256"], "P-384": ["ES384"], "P-521": ["ES512"], "Ed25519": ["EdDSA"],
    ]
    private static let mostKeys = 100

    /// Reads a key set, nil when the bytes are none.
    init?(_ bytes: Data) {
        guard let object = try? JSONSerialization.jsonObject(with: bytes) as? [String: Any],
            let keys = object["keys"] as? [[String: Any]]
        else { return nil }
        entries = keys.prefix(Self.mostKeys).compactMap(Self.entry)
    }

    private static func entry(_ members: [String: Any]) -> Entry? {
        guard members["use"] as? String ?? "sig" == "sig" else { return nil }
        let family = members["kty"] as? String == "RSA" ? "RSA" : members["crv"] as? String ?? ""
        guard algorithms[family] != nil else { return nil }
        let wanted = members.filter { ["kty", "kid", "alg", "n", "e", "crv", "x", "y"].contains($0.key) }
        guard let json = try? JSONSerialization.data(withJSONObject: wanted),
            var key = try? JSONDecoder().decode(JWK.self, from: json)
        else { return nil }
        let id = key.keyIdentifier?.string
        key.keyIdentifier = JWKIdentifier(string: id ?? "only")
        return Entry(id: id, algorithm: members["alg"] as? String, family: family, key: key)
    }

    func contains(_ id: String?) -> Bool { !candidates(id).isEmpty }

    private func candidates(_ id: String?) -> [Entry] {
        guard let id else { return entries }
        return entries.filter { $0.id == id }
    }

    /// Whether the signature over the bytes was made by the one key that the header names.
    ///
    /// A header without key id is accepted only where the provider has exactly one key that fits.
    func isValid(_ signature: Data, over signed: Data, keyID: String?, algorithm: String) async -> Bool {
        let fitting = candidates(keyID).filter {
            Self.algorithms[$0.family]?.contains(algorithm) == true && $0.algorithm ?? algorithm == algorithm
        }
        guard fitting.count == 1, let entry = fitting.first else { return false }
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: entry.key)) != nil,
            let verifier = try? await collection.getKey(for: entry.key.keyIdentifier, alg: algorithm)
        else { return false }
        return (try? verifier.verify(signature, signs: signed)) ?? false
    }
}
