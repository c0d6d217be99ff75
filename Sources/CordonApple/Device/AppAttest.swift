#if canImport(DeviceCheck)
    public import Cordon
    internal import Crypto
    internal import DeviceCheck
    public import Foundation

    /// Proves to a service that requests come from this app on a genuine device. `ofThisApp` makes it ``ProtectionConfiguration/evidence``, by
    /// which Cordon's own service is shown evidence; an app may show its own service evidence by keys of its own.
    public struct AppAttest: AppEvidenceSource {
        /// Makes a client.
        public init() {}

        /// Whether the device can; a simulator and some extensions cannot.
        public var isSupported: Bool { DCAppAttestService.shared.isSupported }

        /// Makes a key and has Apple attest it.
        ///
        /// - Parameter challenge: What the service sent, used once.
        /// - Returns: The key's name, to be kept, and the attestation, to be sent.
        /// - Throws: What the system says; where Apple cannot be reached, try again later with the same key.
        public func attest(_ challenge: Data) async throws -> (key: String, attestation: Data) {
            let key = try await DCAppAttestService.shared.generateKey()
            let hash = Data(SHA256.hash(data: challenge))
            return (key, try await DCAppAttestService.shared.attestKey(key, clientDataHash: hash))
        }

        /// Signs a request with an attested key.
        ///
        /// - Throws: What the system says; a key that is gone is made again with ``attest(_:)``.
        public func assertion(of request: Data, by key: String) async throws -> Data {
            try await DCAppAttestService.shared.generateAssertion(key, clientDataHash: Data(SHA256.hash(data: request)))
        }
    }
#endif
