import CordonBase
import CordonProtocol
import Crypto
import Foundation

/// Nonces that proofs of possession must repeat (RFC 9449 §8); none has to be kept, since each is its time and a MAC over it.
///
/// The secret is new at every start. A restart thus asks every client for a fresh nonce, which also keeps proofs from
/// before the restart, whose ids are forgotten, from being accepted again.
struct ProofNonces: Sendable {
    /// How long a nonce is accepted, in seconds.
    static let lifetime: Int64 = 300

    /// The nonce of one second.
    private struct Nonce: Sendable {
        let text: String
        let mac: SymmetricKey
    }

    /// The most nonces that are remembered, of one second each: more than are accepted at once.
    private static let mostRemembered = 1_024

    private let secret: SymmetricKey
    /// Nonces as they were made before: every answer brings one and every request repeats one, and a second has but one.
    private let known = Locked<[Int64: Nonce]>([:])

    init(secret: SymmetricKey = SymmetricKey(size: .bits256)) {
        self.secret = secret
    }

    /// The nonce to hand out now.
    func nonce(at now: Date) -> String { nonce(of: Int64(now.timeIntervalSince1970)).text }

    /// Whether this service made the nonce recently.
    func accepts(_ nonce: String, at now: Date) -> Bool {
        guard nonce.utf8.count <= 64, let bytes = Base64URL.decode(nonce), bytes.count == 8 + Self.macLength else {
            return false
        }
        let made = bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // By its time first: what anyone may send makes nothing be remembered but the few that are accepted.
        let present = Int64(now.timeIntervalSince1970)
        guard made <= present + 1, made >= present - Self.lifetime else { return false }
        // SymmetricKey compares in constant time.
        return self.nonce(of: made).mac == SymmetricKey(data: bytes.dropFirst(8))
    }

    private func nonce(of second: Int64) -> Nonce {
        if let nonce = known.withLock({ $0[second] }) { return nonce }
        let time = Self.bytes(second)
        let mac = mac(time)
        let nonce = Nonce(text: Base64URL.encode(time + mac), mac: SymmetricKey(data: mac))
        known.withLock { known in
            if known.count >= Self.mostRemembered { known.removeAll() }
            known[second] = nonce
        }
        return nonce
    }

    private static let macLength = 16

    private func mac(_ time: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: time, using: secret).prefix(Self.macLength))
    }

    private static func bytes(_ time: Int64) -> Data {
        withUnsafeBytes(of: time.bigEndian) { Data($0) }
    }
}
