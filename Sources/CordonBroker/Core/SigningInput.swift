internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// What an app asks the session's key to sign, read before anything is signed: header and payload of a compact JWS.
///
/// All apps of a session share its key, so a signature says only what the signed text says. What cannot be read in one way
/// only is not signed: a member that is there twice, or twice but for its case, means one thing to one reader and another
/// thing to the next.
struct SigningInput: Sendable, Equatable {
    enum Purpose: Sendable, Equatable {
        /// Proves to this origin that the sender of a request holds the key, at a moment in seconds since 1970.
        case proof(WebOrigin, issued: Double)
        /// Says that the data of the app with this bundle id was wiped.
        case receipt(bundleID: String)
    }

    let purpose: Purpose

    private struct Header: Decodable {
        var alg: String
        var typ: String
    }

    private struct Claims: Decodable {
        var jti: String
        var htm: String
        var htu: String
        var iat: Double
        var ath: String?
        var nonce: String?
        var bodyDigest: String?

        /// The origin of the request; nil where a claim has not the form that RFC 9449 §4.2 gives it.
        var origin: WebOrigin? {
            guard (1...256).contains(jti.utf8.count), iat.isFinite, iat > 0, (1...32).contains(htm.utf8.count),
                htm.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == 0x2D }),
                [ath, bodyDigest].allSatisfy({ digest in digest.map { Base64URL.decode($0)?.count == 32 } ?? true }),
                nonce.map({ (1...1_024).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
                    ?? true
            else { return nil }
            return WebOrigin(htu)
        }
    }

    private static let receiptMembers: Set<String> = [
        "commandID", "tenant", "registrationID", "account", "bundleID", "destroyedKeyIDs", "files", "bytes", "started",
        "finished", "failures", "cause",
    ]

    /// Reads a text; nil for anything but a proof of possession or a wipe's receipt.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let facts = try? JSONDecoder().decode(Header.self, from: header), facts.alg == "ES256"
        else { return nil }
        switch MessageType(rawValue: facts.typ) {
        case .proofOfPossession:
            guard Self.isObject(header, of: ["alg", "typ", "jwk"]),
                Self.isObject(payload, of: ["jti", "htm", "htu", "iat", "ath", "nonce", "bodyDigest"]),
                let claims = try? JSONDecoder().decode(Claims.self, from: payload), let origin = claims.origin
            else { return nil }
            purpose = .proof(origin, issued: claims.iat)
        case .wipeReceipt:
            guard Self.isObject(header, of: ["alg", "typ", "kid"]), Self.isObject(payload, of: Self.receiptMembers),
                let receipt = try? MessageCoding.decode(WipeReceipt.self, from: payload)
            else { return nil }
            purpose = .receipt(bundleID: receipt.bundleID)
        default: return nil
        }
    }

    /// Whether the bytes are a JSON object in UTF-8 whose members are all among these, each there once.
    private static func isObject(_ bytes: Data, of members: Set<String>) -> Bool {
        // With the bracket first, no reader takes it for another encoding.
        guard bytes.first == UInt8(ascii: "{"), let object = try? JSONReader.members(of: bytes) else { return false }
        return members.isSuperset(of: object.keys)
    }
}
