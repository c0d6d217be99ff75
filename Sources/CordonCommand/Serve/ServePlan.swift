import CordonService
import CordonServiceHTTP
import Foundation

/// The settings that a service is started with.
struct ServePlan: Sendable {
    /// Whether the embedded provider and directory are used.
    var isDevelopment: Bool
    /// Where everything but secrets is kept.
    var database: ServiceDatabase
    /// The folder for signing keys and the development directory.
    var folder: URL
    /// How the service is reached and whose tokens it accepts.
    var server: ServiceServerConfiguration
    /// What is said on standard error.
    var logging = ServeLogging()
    /// A file with people and groups, nil for none.
    var directory: URL?
    /// Times, limits and habits of the service.
    var service = ServiceConfiguration()
    /// The password of everybody in a new development directory.
    var developmentPassword: String?
}
