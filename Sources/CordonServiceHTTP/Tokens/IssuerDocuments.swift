public import Foundation

/// Fetches what a provider publishes; behind a protocol because the embedded provider needs no network.
public protocol IssuerDocuments: Sendable {
    /// The provider's JWK set (RFC 7517) as published now.
    ///
    /// - Throws: ``TokenRefusal`` with code `issuerUnavailable`.
    func keySet(of issuer: String) async throws(TokenRefusal) -> Data
}
