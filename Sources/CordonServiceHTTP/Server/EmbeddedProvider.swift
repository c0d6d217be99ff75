package import Foundation
package import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// An OpenID provider in the server's own process, which the program brings for development and demos. The service knows
/// no more of it than what stands here.
package struct EmbeddedProvider: Sendable {
    package typealias Answer = (head: HTTPResponse, body: Data)

    /// The path of the issuer below the server's address, such as `/idp`.
    let path: String
    /// Every request that it takes: a method and a path from the root.
    let routes: [(method: HTTPRequest.Method, path: String)]
    /// The most bytes of a body that it reads.
    let largestBody: Int
    /// Called once, with the issuer, before anything is asked.
    let start: @Sendable (_ issuer: URL) async -> Void
    /// Answers a request; the body is nil when it is too large.
    let answer: @Sendable (_ request: HTTPRequest, _ body: Data?) async -> Answer
    /// Answers a token request that came by another path; the address is nil where it is not surely this server's.
    let answerToken: @Sendable (_ request: HTTPRequest, _ body: Data?, _ address: String?) async -> Answer
    /// Ends every session and grant of the person with this object id.
    let endSessions: SessionEnding

    package init(
        path: String, routes: [(method: HTTPRequest.Method, path: String)], largestBody: Int,
        start: @escaping @Sendable (_ issuer: URL) async -> Void,
        answer: @escaping @Sendable (_ request: HTTPRequest, _ body: Data?) async -> Answer,
        answerToken: @escaping @Sendable (_ request: HTTPRequest, _ body: Data?, _ address: String?) async -> Answer,
        endSessions: @escaping SessionEnding
    ) {
        self.path = path
        self.routes = routes
        self.largestBody = largestBody
        self.start = start
        self.answer = answer
        self.answerToken = answerToken
        self.endSessions = endSessions
    }

    /// Adds its routes. Add them to the root of the service.
    func add(to router: some RouterMethods<ServiceRequestContext>) {
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, _ in
                guard !Self.isForwarded(request) else { return Self.misdirected }
                return Self.response(await answer(request.head, await body(of: request)))
            }
        }
    }

    /// Answers a token request that came by a route of the service.
    func token(_ request: Request, at address: String?) async -> Response {
        guard !Self.isForwarded(request) else { return Self.misdirected }
        return Self.response(await answerToken(request.head, await body(of: request), address))
    }

    /// Whether a proxy passed the request on: it would open the provider to whomever the proxy lets in.
    private static func isForwarded(_ request: Request) -> Bool {
        request.headers.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded-")
        }
    }

    private static let misdirected = Response(
        .misdirectedRequest, "text/plain; charset=utf-8",
        Data("The provider for development answers no proxy.\n".utf8))

    private func body(of request: Request) async -> Data? {
        guard request.method == .post else { return Data() }
        return (try? await request.body.collect(upTo: largestBody)).map { Data($0.readableBytesView) }
    }

    private static func response(_ answer: Answer) -> Response {
        Response(
            status: answer.head.status, headers: answer.head.headerFields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}

/// What the embedded provider publishes, from within the process.
struct EmbeddedIssuer: IssuerDocuments {
    let provider: EmbeddedProvider

    func keySet(of issuer: String) async throws(TokenRefusal) -> Data { await document("/keys") }

    func discovery(of issuer: String) async throws(TokenRefusal) -> Data {
        await document("/.well-known/openid-configuration")
    }

    private func document(_ name: String) async -> Data {
        let request = HTTPRequest(method: .get, scheme: nil, authority: "localhost", path: provider.path + name)
        return await provider.answer(request, Data()).body
    }
}
