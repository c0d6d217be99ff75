import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Puts a ``DevelopmentIdentityProvider`` on a router. For development: see there.
///
/// Below the prefix: `/.well-known/openid-configuration`, `/.well-known/oauth-authorization-server`, `/keys`,
/// `/par`, `/authorize`, `/sign-in`, `/decision`, `/device_authorization`, `/device`, `/token`, `/userinfo`, `/revoke` and
/// `/logout`. The metadata also answers at the root, where RFC 8414 §3.1 looks for it
/// (`/.well-known/oauth-authorization-server/idp`).
///
/// The pages are plain forms, so a test signs in without a browser: keep cookies, read the hidden fields `request` and
/// `csrf`, post them to the form's action with `username`, `password` and `action=sign-in` (or `action=allow` for a
/// question, `user_code` for a device) and take the `Location` of the answer.
struct IdentityProviderRoutes: Sendable {
    private let provider: DevelopmentIdentityProvider
    private let prefix: String

    static let largestBody = 65_536

    /// Makes routes for a provider.
    ///
    /// - Parameter prefix: the path of the issuer, beginning with a slash and without one at its end.
    init(provider: DevelopmentIdentityProvider, prefix: String = "/idp") {
        self.provider = provider
        self.prefix = prefix
    }

    /// Adds every route. Add them to the root of the service, before other routes under the same prefix.
    func add<Context: RequestContext>(to router: some RouterMethods<Context>) {
        for endpoint in ProviderEndpoint.allCases {
            for method in endpoint.methods {
                add(endpoint, at: prefix + "/" + endpoint.rawValue, method: method, to: router)
            }
        }
        for endpoint in [ProviderEndpoint.configuration, .metadata] {
            add(endpoint, at: "/" + endpoint.rawValue + prefix, method: .get, to: router)
        }
    }

    private func add<Context: RequestContext>(
        _ endpoint: ProviderEndpoint, at path: String, method: HTTPRequest.Method,
        to router: some RouterMethods<Context>
    ) {
        router.on(RouterPath(path), method: method) { [provider] request, _ in
            let response: Response
            do throws(OAuthError) {
                let read = try await Self.read(request)
                response = Self.response(await provider.answer(endpoint, read))
            } catch {
                response = Self.response(await provider.answer(error, at: endpoint))
            }
            if let correlation = Exchange.correlation(in: request.headers) {
                provider.logger.info(
                    "answered",
                    metadata: [
                        "endpoint": "\(endpoint.rawValue)", "status": "\(response.status.code)",
                        "correlation": "\(correlation)",
                    ])
            }
            return response
        }
    }

    private static func read(_ request: Request) async throws(OAuthError) -> ProviderRequest {
        // A page elsewhere could make a browser use its own name for this machine (DNS rebinding).
        guard let authority = request.head.authority, ProviderHost.isLoopback(ProviderHost.host(ofAuthority: authority))
        else {
            throw OAuthError(
                .invalidRequest, "this provider answers on loopback names only", status: .misdirectedRequest)
        }
        return try await readAnyHost(request)
    }

    /// Reads a request whatever name the client used; for what a browser's own powers cannot misuse.
    static func readAnyHost(_ request: Request) async throws(OAuthError) -> ProviderRequest {
        var form = ProviderParameters.none
        if request.method == .post {
            guard isForm(request.headers[.contentType]) else {
                throw OAuthError(
                    .invalidRequest, "the body must be application/x-www-form-urlencoded",
                    status: .unsupportedMediaType)
            }
            var copy = request
            guard let body = try? await copy.collectBody(upTo: largestBody) else {
                throw OAuthError(.invalidRequest, "the body is too large", status: .contentTooLarge)
            }
            guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
                throw OAuthError(.invalidRequest, "the body is not UTF-8")
            }
            form = try ProviderParameters(encoded: text)
        }
        return ProviderRequest(
            method: request.method, query: try ProviderParameters(encoded: request.uri.query ?? ""), form: form,
            headers: request.headers)
    }

    private static func isForm(_ contentType: String?) -> Bool {
        let type = contentType?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return type == "application/x-www-form-urlencoded"
    }

    static func response(_ answer: ProviderAnswer) -> Response {
        Response(
            status: answer.status, headers: answer.headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
