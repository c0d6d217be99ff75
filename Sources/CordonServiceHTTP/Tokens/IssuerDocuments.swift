public import Foundation

/// Fetches what a provider publishes; behind a protocol because the embedded provider needs no network.
public protocol IssuerDocuments: Sendable {
    /// The provider's JWK set (RFC 7517) as published now.
    ///
    /// - Throws: ``TokenRefusal`` with code `issuerUnavailable`.
    func keySet(of issuer: String) async throws(TokenRefusal) -> Data

    /// The provider's discovery document (OpenID Connect Discovery §4) as published now.
    ///
    /// - Throws: ``TokenRefusal`` with code `issuerUnavailable`; so does the usual implementation, which knows none.
    func discovery(of issuer: String) async throws(TokenRefusal) -> Data
}

extension IssuerDocuments {
    /// None.
    public func discovery(of issuer: String) async throws(TokenRefusal) -> Data {
        throw TokenRefusal(.issuerUnavailable, "the provider's discovery document is not known here")
    }
}
