internal import AsyncHTTPClient
internal import CordonBase
internal import CordonHTTPGuard
public import Foundation
internal import NIOCore
internal import NIOHTTP1

/// Fetches an outside provider's discovery document and keys over HTTPS (OpenID Connect Discovery §4).
///
/// Plain HTTP is refused but for loopback addresses, and a redirect is not followed: where the documents are stands in the
/// configuration and in the discovery document, and nothing else has the service ask an address. Answers are at most 1 MiB.
public struct NetworkIssuerDocuments: IssuerDocuments {
    private static let largestDocument = 1 << 20
    /// How long one answer may take, body included.
    private let timeout: Duration

    private struct Discovery: Decodable {
        var issuer: String
        var jwks_uri: String
    }

    /// One for the process, which needs no shutdown.
    private static let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .guarded)

    /// Uses an HTTP client of the process, which needs no shutdown.
    public init() { self.init(timeout: .seconds(10)) }

    init(timeout: Duration) { self.timeout = timeout }

    /// The provider's JWK set.
    ///
    /// - Throws: ``TokenRefusal`` with code `issuerUnavailable`.
    public func keySet(of issuer: String) async throws(TokenRefusal) -> Data {
        try await fetch(try await document(of: issuer).content.jwks_uri)
    }

    /// The provider's discovery document, provided that it names this issuer.
    ///
    /// - Throws: ``TokenRefusal`` with code `issuerUnavailable`.
    public func discovery(of issuer: String) async throws(TokenRefusal) -> Data {
        try await document(of: issuer).bytes
    }

    private func document(of issuer: String) async throws(TokenRefusal) -> (bytes: Data, content: Discovery) {
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let document = try await fetch(base + "/.well-known/openid-configuration")
        guard let discovery = try? JSONDecoder().decode(Discovery.self, from: document) else {
            throw TokenRefusal(
                .issuerUnavailable, "the provider's discovery document is malformed or of another issuer",
                note: "what is there is not a discovery document")
        }
        guard discovery.issuer == issuer else {
            throw TokenRefusal(
                .issuerUnavailable, "the provider's discovery document is malformed or of another issuer",
                note: "it names the issuer \(TokenRefusalLog.plain(discovery.issuer)), and must name the configured one"
            )
        }
        return (document, discovery)
    }

    private func fetch(_ address: String) async throws(TokenRefusal) -> Data {
        // It comes from the provider's own document too, and the libraries below end the process over some addresses.
        guard let url = URL(string: address) else { throw Self.unusable(.malformed, address) }
        if let flaw = AddressFlaw(of: url) { throw Self.unusable(flaw, address) }
        guard let outcome = await bounded(by: timeout, { await Self.answer(from: address) }) else {
            throw Self.unavailable("the provider did not answer in time", address)
        }
        return try outcome.get()
    }

    private static func answer(from address: String) async -> Result<Data, TokenRefusal> {
        var request = HTTPClientRequest(url: address)
        request.headers.add(name: "accept", value: "application/json")
        do {
            // The caller bounds the whole exchange.
            let response = try await client.execute(request, deadline: .distantFuture)
            switch response.status.code {
            case 200: return .success(Data(try await response.body.collect(upTo: largestDocument).readableBytesView))
            case 300...399:
                return .failure(
                    unavailable("the provider sends the service to another address, which it does not follow", address))
            default: return .failure(unavailable("the provider answered \(response.status.code)", address))
            }
        } catch is NIOTooManyBytesError {
            return .failure(unavailable("the provider's answer is too large", address))
        } catch {
            return .failure(unavailable("the provider could not be reached", "\(address), \(error)"))
        }
    }

    private static func unusable(_ flaw: AddressFlaw, _ address: String) -> TokenRefusal {
        unavailable("an address of the provider \(flaw.predicate)", address)
    }

    private static func unavailable(_ reason: String, _ note: String) -> TokenRefusal {
        TokenRefusal(.issuerUnavailable, reason, note: TokenRefusalLog.plain(note))
    }
}
