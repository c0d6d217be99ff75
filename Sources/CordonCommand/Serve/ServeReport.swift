import Foundation

/// The one line that `cordon serve` prints on standard output.
struct ServeReport: Codable, Sendable, Equatable {
    /// The address that clients use.
    var address: String
    /// The address that was bound, where it differs.
    var listening: String
    /// This program's version.
    var version: String
    /// The organisation.
    var tenant: String
    /// The thumbprint of the root key, to be pinned in apps.
    var rootKey: String
    /// Whether its secret lies with the service's other keys.
    var rootKeyIsHere: Bool
    /// Whether the embedded identity provider is used.
    var development: Bool
    /// The OpenID provider's issuer; of several, the first.
    var issuer: String
    /// The process id, for whoever wants to stop it.
    var process: Int32
}
