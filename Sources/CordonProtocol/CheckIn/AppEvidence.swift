public import Foundation

/// What an app sends to show that it is itself, on a genuine device (SRV-CI-082).
public struct AppEvidence: Sendable, Codable, Equatable {
    /// What kind of evidence it is.
    public var format: Format
    /// The name of the key, base64url.
    public var keyID: String
    /// The nonce of the service that the evidence is about, as `DPoP-Nonce` last said it.
    public var nonce: String
    /// The attestation of a new key, base64url; nil afterwards.
    public var attestation: String?
    /// An assertion by a key that was attested before, base64url; nil for a new key.
    public var assertion: String?

    /// The kinds of evidence that there are.
    public enum Format: String, Sendable, Codable {
        /// Apple's App Attest.
        case appleAppAttest = "apple-app-attest"
    }

    /// Makes evidence.
    public init(
        _ format: Format, keyID: String, nonce: String, attestation: String? = nil, assertion: String? = nil
    ) {
        self.format = format
        self.keyID = keyID
        self.nonce = nonce
        self.attestation = attestation
        self.assertion = assertion
    }

    /// What the evidence has to be about, so that it is good for one registration, its key and one moment: the bytes that the platform hashes and
    /// signs.
    ///
    /// - Parameter keyThumbprint: That of the registration's own key.
    public static func challenge(registrationID: String, keyThumbprint: String, nonce: String) -> Data {
        Data("cordon-evidence\n\(registrationID)\n\(keyThumbprint)\n\(nonce)".utf8)
    }
}

/// The answer to evidence that was good.
public struct AppEvidenceResult: Sendable, Codable, Equatable {
    /// When the service wants to see evidence again, in seconds.
    public var nextEvidenceSeconds: Int

    /// Makes an answer.
    public init(nextEvidenceSeconds: Int) { self.nextEvidenceSeconds = nextEvidenceSeconds }
}
