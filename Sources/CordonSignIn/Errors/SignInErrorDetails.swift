public import CordonIdentity
public import Foundation

/// What is known beside an error's code (SI-145).
public struct SignInErrorDetails: Sendable, Equatable {
    /// The provider's error code, such as `invalid_grant`.
    public var oauthError: String?
    /// The provider's finer code, where it has one.
    public var subError: String?
    /// The provider's own text; may name people, so never log it unasked.
    public var providerDescription: String?
    /// The status of the answer.
    public var httpStatus: Int?
    /// The id that ties this request to the provider's logs.
    public var correlationID: UUID?
    /// What was granted.
    public var grantedScopes: [String] = []
    /// What was asked for and not granted.
    public var declinedScopes: [String] = []
    /// How long to wait before the next try.
    public var retryAfter: Duration?
    /// Claims that the next interactive request must carry.
    public var claims: String?
    /// The account that did sign in, where one did, or that has to be protected first.
    public var account: AccountID?
    /// The account to remediate for `protectionRequired`, before anyone is signed in too (SDK-EN-30). Of a sign-in it is what the
    /// provider's `client_info` and `adi` say, which Microsoft's sends where ``SignInRequest/extraParameters`` have `client_info` as 1; of
    /// a renewal the session's. Nil where the provider says neither, and from a broker, which sends ``account`` alone.
    public var accountToProtect: ManagedAccount?
    /// Whether the request was answered from memory because the same one had just failed (SI-121).
    public var isThrottled = false

    /// Makes empty details.
    public init() {}
}
