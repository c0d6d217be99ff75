import AsyncHTTPClient
import CordonBase
import CordonHTTPGuard
import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// Asks the provider for a token: within this process where the provider is a part of it, else over HTTPS.
struct TokenEndpoint: Sendable {
    /// What came back.
    struct Answer: Sendable {
        var body: JSONValue
        /// The nonce for the next proof.
        var nonce: String?
    }

    let parts: ServerExtension.Parts
    let context: ServiceRequestContext

    private static let largest = 1 << 20
    /// One for the process, which needs no shutdown. A redirect is not followed: it would hand the code to another server.
    private static let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .guarded)

    func post(_ form: [(key: String, value: String)], to url: URL, proof: String?) async throws -> Answer {
        let body = FormEncoding.encode(form)
        return url.absoluteString.hasPrefix(parts.base + "/")
            ? try await within(body, path: url.path, proof) : try await outside(body, url, proof)
    }

    private func within(_ body: String, path: String, _ proof: String?) async throws -> Answer {
        var request = InnerRequest(.post, path, base: parts.base)
        request.headers[.contentType] = "application/x-www-form-urlencoded"
        request.headers[.dpop] = proof
        request.body = Data(body.utf8)
        let (response, bytes) = try await request.answer(parts, context)
        return Answer(body: (try? JSONValue(parsing: bytes)) ?? .null, nonce: response.headers[.dpopNonce])
    }

    private func outside(_ body: String, _ url: URL, _ proof: String?) async throws -> Answer {
        guard AddressFlaw(of: url) == nil else {
            throw Refusal(.badGateway, "sign-in", "The identity provider's address is not https.")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "accept", value: "application/json")
        if let proof { request.headers.add(name: "DPoP", value: proof) }
        request.body = .bytes(ByteBuffer(string: body))
        let asked = request
        let outcome = await bounded(by: .seconds(10)) { () async -> Answer? in
            guard let response = try? await Self.client.execute(asked, deadline: .distantFuture),
                let bytes = try? await response.body.collect(upTo: Self.largest).readableBytesView
            else { return nil }
            return Answer(
                body: (try? JSONValue(parsing: Data(bytes))) ?? .null,
                nonce: response.headers.first(name: "DPoP-Nonce"))
        }
        guard case let answer?? = outcome else {
            throw Refusal(
                .badGateway, "sign-in", "The identity provider cannot be reached.", detail: "Try again in a minute.")
        }
        return answer
    }
}
