public import CordonIdentity
public import CordonProtocol
public import Foundation

/// What a sign-in on another screen asks for (RFC 8628).
public struct DeviceCodeRequest: Sendable {
    /// The scopes of the resource; the reserved ones are added.
    public var scopes: [String]
    /// The resource the access token is for (RFC 8707), nil for the provider's choice.
    public var resource: String?
    /// Whether the resource takes only tokens that are bound to a key (RFC 9449), as check-in and joining a device do. If the
    /// provider does not announce that, the sign-in fails before the person is asked.
    public var requiresProofOfPossession = false
    /// Whether the session gets a key even if the provider binds no tokens to one, because the service knows the app by it
    /// (`registration` in the service's discovery document).
    public var keepsOwnKey = false
    /// The account that must sign in; any other is refused.
    public var account: AccountID?
    /// Ties the logs of both sides together.
    public var correlationID = UUID()

    /// Makes a request.
    public init(scopes: [String], resource: String? = nil) {
        self.scopes = scopes
        self.resource = resource
    }

    /// Makes a request for the token that a service wants for check-in.
    public init(for service: ServiceDiscovery) {
        self.init(scopes: service.asked.scopes, resource: service.asked.resource)
        requiresProofOfPossession = service.proof != .registration
        keepsOwnKey = true
    }
}
