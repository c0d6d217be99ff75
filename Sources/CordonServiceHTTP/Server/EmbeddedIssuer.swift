import Foundation

/// The keys of the embedded provider, from within the process.
struct EmbeddedIssuer: IssuerDocuments {
    let provider: DevelopmentIdentityProvider

    func keySet(of issuer: String) async throws(TokenRefusal) -> Data { provider.keySet }

    func discovery(of issuer: String) async throws(TokenRefusal) -> Data {
        await provider.metadata(issuer: issuer).body
    }
}
