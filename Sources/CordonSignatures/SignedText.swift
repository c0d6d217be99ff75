package import CordonBase
package import Foundation

/// A JSON Web Signature in compact form (RFC 7515 §7.1) whose header fits a profile; the signature is not verified yet.
package struct SignedText: Sendable {
    /// The algorithm of the signature.
    package let algorithm: SignatureAlgorithm
    /// What the text says it is, nil where its header does not say so.
    package let type: String?
    /// The id of the key, nil where the profile lets a text leave it out.
    package let keyID: String?
    /// The key that the text brings along, where its profile is ``SignatureProfile/Key/embedded``.
    package let embeddedKey: P256PublicKey?
    /// What is signed. Before ``isSigned(by:)`` it may serve only to choose the key.
    package let payload: Data
    private let signed: Data
    private let signature: Data

    /// Splits a text and checks its header.
    ///
    /// - Throws: ``TextFlaw``; the order of its kinds is that of the checks.
    package init(_ text: String, _ profile: SignatureProfile) throws(TextFlaw) {
        guard text.utf8.count <= profile.largest else { throw TextFlaw(.tooLarge) }
        guard let parts = Self.parts(text), let head = Base64URL.decode(parts.header),
            let payload = Base64URL.decode(parts.payload), let signature = Base64URL.decode(parts.signature),
            let members = try? JSONReader.members(of: head)
        else { throw TextFlaw(.malformed) }
        func member(_ name: String) throws(TextFlaw) -> String? {
            guard let content = members[name], !content.isNull else { return nil }
            guard let text = content.string else { throw TextFlaw(.malformed) }
            return text
        }
        guard let name = try member("alg") else { throw TextFlaw(.malformed) }
        let (type, keyID) = (try member("typ"), try member("kid"))
        guard let algorithm = SignatureAlgorithm(rawValue: name), profile.algorithms.contains(algorithm) else {
            throw TextFlaw(.algorithm)
        }
        guard profile.accepts(type: type) else { throw TextFlaw(.type) }
        guard members["crit"]?.isNull ?? true else { throw TextFlaw(.critical) }
        self.embeddedKey = try Self.key(of: profile.key, keyID, members["jwk"])
        self.algorithm = algorithm
        self.type = type
        self.keyID = keyID
        self.payload = payload
        self.signature = signature
        self.signed = Data(text.utf8[..<parts.payload.endIndex])
    }

    /// Whether the key signed the text with the algorithm that its header names.
    package func isSigned(by key: VerificationKey) -> Bool {
        key.isValid(signature, for: signed, by: algorithm)
    }

    /// The payload of a text that nothing is verified of; nil when it is not three parts. Only for what came straight from the
    /// signer over a connection that authenticates it (OpenID Connect Core §3.1.3.7, 6).
    package static func unverifiedPayload(of text: String) -> Data? {
        parts(text).flatMap { Base64URL.decode($0.payload) }
    }

    /// Signs a payload under a header, both JSON.
    package static func make<Failure: Error>(
        header: Data, payload: Data, signature: (Data) throws(Failure) -> Data
    ) throws(Failure) -> String {
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return signed + "." + Base64URL.encode(try signature(Data(signed.utf8)))
    }

    private static func parts(_ text: String) -> (header: Substring, payload: Substring, signature: Substring)? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return (Substring(parts[0]), Substring(parts[1]), Substring(parts[2]))
    }

    private static func key(
        of rule: SignatureProfile.Key, _ id: String?, _ embedded: JSONReader.Content?
    ) throws(TextFlaw) -> P256PublicKey? {
        let brings = embedded.map { !$0.isNull } ?? false
        switch rule {
        case .trusted: if id == nil || brings { throw TextFlaw(.key) }
        case .named: if id == nil { throw TextFlaw(.key) }
        case .namedOrOnly: break
        case .embedded:
            guard brings else { throw TextFlaw(.key) }
            guard case .object(let members) = embedded, let key = JWK(members).flatMap(P256PublicKey.init) else {
                throw TextFlaw(.malformed)
            }
            return key
        }
        return nil
    }
}
