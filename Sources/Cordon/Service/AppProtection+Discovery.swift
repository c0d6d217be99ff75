public import CordonProtocol
public import CordonSignIn
public import Foundation

extension AppProtection {
    /// What a service says of itself: its organisation, its OpenID provider, and the resource that tokens are asked for.
    ///
    /// For setting up sign-in before there is an account; nothing in it is trusted for more than finding the way.
    /// - Throws: ``ProtectionError`` with code `serviceUnusable` when no usable answer came.
    public static func discover(
        _ service: URL, over transport: any HTTPTransport
    ) async throws(ProtectionError) -> ServiceDiscovery {
        do throws(ServiceFailure) { return try await ServiceClient.discover(at: service, over: transport) } catch {
            throw ProtectionError(.serviceUnusable, error.reason)
        }
    }
}
