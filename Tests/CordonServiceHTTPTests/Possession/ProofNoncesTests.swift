import Foundation
import Testing

@testable import CordonServiceHTTP

@Suite struct ProofNoncesTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `a nonce is accepted for its lifetime and not longer`() {
        let nonces = ProofNonces()
        let nonce = nonces.nonce(at: now)
        #expect(nonces.accepts(nonce, at: now))
        #expect(nonces.accepts(nonce, at: now + TimeInterval(ProofNonces.lifetime)))
        #expect(!nonces.accepts(nonce, at: now + TimeInterval(ProofNonces.lifetime) + 1))
        #expect(!nonces.accepts(nonce, at: now - 60))
    }

    @Test func `a nonce of another secret, a changed one and nonsense are refused`() {
        let nonces = ProofNonces()
        #expect(!nonces.accepts(ProofNonces().nonce(at: now), at: now))
        #expect(!nonces.accepts("B" + nonces.nonce(at: now).dropFirst(), at: now))
        for text in ["", "x", String(repeating: "A", count: 10_000), "====", nonces.nonce(at: now) + "AAAA"] {
            #expect(!nonces.accepts(text, at: now))
        }
    }
}
