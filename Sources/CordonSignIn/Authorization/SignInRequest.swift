public import CordonIdentity
public import CordonProtocol
public import Foundation

/// What an interactive sign-in asks for (SI-108).
public struct SignInRequest: Sendable {
    /// The scopes of the resource; the reserved ones are added (SI-110).
    public var scopes: [String]
    /// The resource the access token is for (RFC 8707), nil for the provider's choice.
    public var resource: String?
    /// Whether the resource takes only tokens that are bound to a key (RFC 9449), as check-in and joining a device do. If the
    /// provider does not announce that, the sign-in fails before the person is asked.
    public var requiresProofOfPossession = false
    /// Whether the session gets a key even if the provider binds no tokens to one, because the service knows the app by it
    /// (`registration` in the service's discovery document).
    public var keepsOwnKey = false
    /// How insistently the provider asks the person.
    public var prompt: AuthorizationPrompt = .ifNecessary
    /// A user name to pre-fill; another person may sign in all the same (SI-043).
    public var loginHint: String?
    /// The home of the user name, for providers that federate.
    public var domainHint: String?
    /// The account that must sign in; any other fails with ``SignInError/Code/accountMismatch``.
    public var account: AccountID?
    /// Scopes to consent to that this access token will not carry.
    public var extraScopesToConsent: [String] = []
    /// Claims that a resource demanded (SI-116).
    public var claims: ClaimsRequest?
    /// How long ago the person may have entered their credentials; at least one second (SI-181).
    public var maximumAuthenticationAge: Duration?
    /// More parameters for the authorization and token endpoints; names that the library itself sets are refused.
    public var extraParameters: [String: String] = [:]
    /// Ties the logs of both sides together (SI-079).
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
