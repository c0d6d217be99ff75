public import Foundation

/// What shows a service that its requests come from this app on a genuine device (SRV-CI-082). `AppAttest` of `CordonApple` is Apple's.
///
/// Set it as ``ProtectionConfiguration/evidence``; ``AppProtection/performDueWork()`` then shows evidence of every enrolled account as often as the service
/// wants it. Nothing in the app depends on whether that succeeds.
public protocol AppEvidenceSource: Sendable {
    /// Whether the device can; a simulator and some extensions cannot. Any thread.
    var isSupported: Bool { get }

    /// Makes a key and has the platform's maker attest it.
    ///
    /// - Parameter challenge: What the evidence is about, used once; the platform is given its SHA-256.
    /// - Returns: The key's name, 32 bytes in base64, and the attestation.
    /// - Throws: Whatever the platform says; it is tried again later.
    func attest(_ challenge: Data) async throws -> (key: String, attestation: Data)

    /// Signs a challenge with a key that was attested before.
    ///
    /// - Throws: Whatever the platform says; a new key is made then.
    func assertion(of request: Data, by key: String) async throws -> Data
}
