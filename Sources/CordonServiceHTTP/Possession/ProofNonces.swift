import CordonBase
import CordonProtocol
import Crypto
import Foundation

/// Nonces that proofs of possession must repeat (RFC 9449 §8), kept nowhere: each is its time and a MAC over it.
///
/// The secret is new at every start. A restart thus asks every client for a fresh nonce, which also keeps proofs from
/// before the restart, whose ids are forgotten, from being accepted again.
struct ProofNonces: Sendable {
    /// How long a nonce is accepted, in seconds.
    static let lifetime: Int64 = 300

    private let secret: SymmetricKey

    init(secret: SymmetricKey = SymmetricKey(size: .bits256)) {
        self.secret = secret
    }

    /// The nonce to hand out now.
    func nonce(at now: Date) -> String {
        let time = Self.bytes(Int64(now.timeIntervalSince1970))
        return Base64URL.encode(time + mac(time))
    }

    /// Whether this service made the nonce recently.
    func accepts(_ nonce: String, at now: Date) -> Bool {
        guard nonce.utf8.count <= 64, let bytes = Base64URL.decode(nonce), bytes.count == 8 + Self.macLength else {
            return false
        }
        let time = bytes.prefix(8)
        // SymmetricKey compares in constant time.
        guard SymmetricKey(data: mac(time)) == SymmetricKey(data: bytes.dropFirst(8)) else { return false }
        let made = time.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let age = Int64(now.timeIntervalSince1970) - made
        return age >= -1 && age <= Self.lifetime
    }

    private static let macLength = 16

    private func mac(_ time: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: time, using: secret).prefix(Self.macLength))
    }

    private static func bytes(_ time: Int64) -> Data {
        withUnsafeBytes(of: time.bigEndian) { Data($0) }
    }
}
