import CordonBase
import CordonProtocol
import Crypto
import Foundation

/// Compact JSON Web Signatures with ES256 (RFC 7515, RFC 7518 §3.4), the one algorithm this provider knows.
enum ProviderJWS {
    /// The three parts of a compact JWS, decoded; nothing is verified yet.
    struct Parts {
        let header: Data
        let payload: Data
        let signature: Data
        let signedText: Data
    }

    static let longest = 16_384

    static func parts(of text: String) -> Parts? {
        guard text.utf8.count <= longest else { return nil }
        let pieces = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard pieces.count == 3, let header = Base64URL.decode(pieces[0]),
            let payload = Base64URL.decode(pieces[1]), let signature = Base64URL.decode(pieces[2])
        else { return nil }
        return Parts(
            header: header, payload: payload, signature: signature, signedText: Data("\(pieces[0]).\(pieces[1])".utf8))
    }

    static func isValid(_ parts: Parts, for key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: parts.signature) else { return false }
        return key.isValidSignature(signature, for: parts.signedText)
    }

    static func sign(
        header: some Encodable, payload: some Encodable, with key: P256.Signing.PrivateKey
    ) throws -> String {
        let text =
            Base64URL.encode(try ProviderJSON.encode(header)) + "."
            + Base64URL.encode(try ProviderJSON.encode(payload))
        return text + "." + Base64URL.encode(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }
}

/// JSON as this provider writes it: sorted keys, dates never encoded as such.
enum ProviderJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
