/// What exactly was wrong: finer than ``SignInError/Code``, for logs, tests and migration.
public enum SignInFault: String, Sendable, CaseIterable {
    /// An argument or setting is missing or malformed.
    case invalidParameter
    /// The provider called the request malformed.
    case invalidRequest
    /// The provider does not know this client.
    case invalidClient
    /// The code, device code or refresh token is not (or no longer) good.
    case invalidGrant
    /// The provider does not offer a scope or resource.
    case invalidScope
    /// The client may not use this grant.
    case unauthorizedClient
    /// An OAuth error without a meaning here.
    case unhandledError
    /// A status that is neither success nor an OAuth error.
    case unexpectedStatus
    /// The provider is not the configured one (RFC 9207, SI-167, SI-170).
    case issuerMismatch
    /// The redirect is not the one that was asked for.
    case invalidRedirect
    /// An address is neither https nor loopback.
    case insecureAddress
    /// Another account signed in.
    case mismatchedUser
    /// Several accounts fit.
    case ambiguousAccount
    /// The authorization page reported a failure.
    case authorizationFailed
    /// The call needs an account that is signed in.
    case accountRequired
    /// An interactive sign-in is already under way.
    case interactiveSessionRunning
    /// The answer does not belong to the request.
    case invalidState
    /// An answer is malformed or too large.
    case invalidResponse
    /// The ID token failed validation.
    case invalidIDToken
    /// The ID token was made for another sign-in.
    case nonceMismatch
    /// The provider does not offer PKCE with S256.
    case proofKeyUnsupported
    /// The provider does not announce DPoP with ES256, and the resource takes no other tokens.
    case proofOfPossessionUnsupported
    /// The access token is not bound to the device key although it must be.
    case unboundToken
    /// The provider lacks an endpoint that the call needs.
    case missingEndpoint
    /// The person said no.
    case accessDenied
    /// The person or the app stopped it.
    case stopped
    /// Nothing arrived in time.
    case timedOut
    /// No connection.
    case unreachable
    /// The provider asked for a pause.
    case overloaded
    /// The person must consent, choose or confirm something at the provider.
    case consentRequired
    /// The account was signed out while the request was under way, or before.
    case signedOut
    /// The stored session is older than the newest known one.
    case rolledBack
    /// The stored session cannot be opened.
    case storeDamaged
    /// A file or key operation failed.
    case storeUnavailable
    /// The provider wants app protection.
    case protectionPolicyRequired
    /// The provider wants a registered device.
    case deviceRegistrationRequired
    /// The provider wants a new password.
    case passwordResetRequired
    /// The device is not strong enough for the policy.
    case insufficientDeviceStrength
    /// Enrolment finished; repeat the request.
    case retryAfterEnrollment
    /// A broker is needed and absent.
    case brokerMissing
    /// What answers at the broker's socket may be any program.
    case brokerUntrusted
    /// A broker refused.
    case brokerDenied
    /// The device is not shared.
    case notShared
    /// The app has still to remove what an earlier person left (SI-067).
    case cleanUpOwed
    /// Another session is in force than the app believes (SI-072).
    case sessionChanged
}
