package import CordonIdentity
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
        package let now: @Sendable () -> Date
    }

    package typealias Middleware = any MiddlewareProtocol<Request, Response, ServiceRequestContext>

    /// Makes the middleware that answers its requests and passes all others on.
    package let middleware: @Sendable (Parts) -> Middleware

    package init(_ middleware: @escaping @Sendable (Parts) -> Middleware) {
        self.middleware = middleware
    }
}
