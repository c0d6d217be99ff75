import CordonProtocol
import Foundation

/// Checks the proof of possession of one request after the other, and remembers those of requests that the limits let
/// through (RFC 9449 §4.3).
struct ProofVerifier: Sendable {
    let nonces: ProofNonces
    private let replays: ReplayCache
    private let now: @Sendable () -> Date
    /// For how long proofs have been remembered.
    private let running: @Sendable () -> Duration

    /// - Parameters:
    ///   - capacity: The most proofs that are remembered.
    ///   - running: How long proofs have been remembered, on a monotonic clock; nil counts from now.
    init(
        nonces: ProofNonces = ProofNonces(), capacity: Int, now: @escaping @Sendable () -> Date,
        running: (@Sendable () -> Duration)? = nil
    ) {
        self.nonces = nonces
        self.now = now
        let begun = ContinuousClock.now
        self.running = running ?? { begun.duration(to: .now) }
        // A proof may come as early as its tolerance before its time and as late as that after it.
        self.replays = ReplayCache(span: 2 * DPoPProof.tolerance + 1, capacity: capacity, now: now())
    }

    /// The most proofs of the key of an administrator or a program that are remembered at once: it may work through long
    /// lists. ``CheckInLimits/proofsOfKey`` is that of an app.
    static let shareOfAdministrator = 20_000

    /// The proof, provided that it was made for this request and not used before; the caller that accepts the request calls
    /// ``remember(_:share:)`` next.
    ///
    /// - Parameters:
    ///   - address: The request's URL as clients see it.
    ///   - thumbprint: The key that must have made it; nil for any, which the caller must then look at.
    ///   - demandsNonce: Whether a nonce of this service must be in it. One that may be from before the start needs it in any case.
    func check(
        _ proofs: [String], method: String, address: String, accessToken: String?, madeBy thumbprint: String?,
        demandsNonce: Bool
    ) throws -> DPoPProof {
        guard proofs.count == 1, proofs[0].utf8.count <= 8 << 10 else { throw Refusal.missingProof }
        // In this order, and before the signature is verified: the start may seem later than it was, and never earlier.
        let elapsed = running()
        let moment = now()
        let proof: DPoPProof
        do {
            proof = try DPoPProof(
                verifying: proofs[0], method: method, address: address, accessToken: accessToken, now: moment)
        } catch {
            throw Refusal.invalidProof(error.reason)
        }
        let maker = proof.key.thumbprint
        guard thumbprint == nil || maker == thumbprint else {
            throw Refusal.invalidProof("the proof was made with another key")
        }
        // Nonces end with the process. Without one, a proof may have been used with the process before: also one that is dated
        // later than the start, of a client whose clock is ahead.
        if demandsNonce || proof.issued <= Self.start(at: moment, after: elapsed) + DPoPProof.tolerance {
            guard let nonce = proof.nonce, nonces.accepts(nonce, at: moment) else { throw Refusal.staleNonce }
        }
        // Told here already, so that a recorded request takes nothing from its victim's share.
        guard !replays.knows(proof.id, key: maker) else { throw Refusal.replayedProof }
        return proof
    }

    /// The second since which proofs are remembered, by the clock as it is set now.
    private static func start(at moment: Date, after elapsed: Duration) -> Date {
        Date(timeIntervalSince1970: (moment.timeIntervalSince1970 - elapsed / .seconds(1)).rounded(.down))
    }

    /// Remembers a proof that was checked, provided that it was never seen before.
    ///
    /// - Parameter share: The most proofs of its key that are remembered at once.
    func remember(_ proof: DPoPProof, share: Int) throws {
        switch replays.remember(proof.id, key: proof.key.thumbprint, share: share, at: now()) {
        case .fresh: return
        case .replayed: throw Refusal.replayedProof
        case .full: throw Refusal.busy
        }
    }
}
