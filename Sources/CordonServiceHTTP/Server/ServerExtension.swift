package import CordonIdentity
package import CordonPolicy
package import CordonService
package import Foundation
package import Hummingbird
package import Logging

/// Ends every session of the person with this object id at the provider that signs people in.
package typealias SessionEnding = @Sendable (_ person: String) async -> Void

/// Routes that a program adds to the server beside the service's own.
public struct ServerExtension: Sendable {
    /// What such routes stand on.
    package struct Parts: Sendable {
        package let service: ManagementService
        package let tenant: TenantID
        /// Lets administrators and programs through.
        package let gate: AdministrationGate
        /// Where links lead back to.
        package let origin: RequestOrigin
        /// Ends a person's sessions at the embedded provider, nil for another one.
        package let endSessions: SessionEnding?
        package let logger: Logger
        /// The service's address as clients see it, without a slash at its end.
        package let base: String
        /// The issuer that signs people in; of several, the first.
        package let issuer: String
        /// The audience of administration tokens of that issuer.
        package let audience: String
        /// What the provider says of itself (OpenID Connect Discovery §4).
        package let discovery: @Sendable () async throws -> [String: JSONValue]
        /// Answers a request as if it had come over the network: nothing on its way is left out but the proof of a key that
        /// the context says is held here.
        package let respond: @Sendable (Request, ServiceRequestContext) async throws -> Response
        package let now: @Sendable () -> Date
    }

    package typealias Middleware = any MiddlewareProtocol<Request, Response, ServiceRequestContext>

    /// Makes the middleware that answers its requests and passes all others on.
    let middleware: (@Sendable (Parts) -> Middleware)?
    /// Adds routes to the server's router.
    let routes: (@Sendable (Parts, Router<ServiceRequestContext>) -> Void)?

    package init(_ middleware: @escaping @Sendable (Parts) -> Middleware) {
        self.middleware = middleware
        routes = nil
    }

    package init(routes: @escaping @Sendable (Parts, Router<ServiceRequestContext>) -> Void) {
        middleware = nil
        self.routes = routes
    }
}
