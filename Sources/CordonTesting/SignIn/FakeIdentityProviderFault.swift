/// What a ``FakeIdentityProvider`` does wrong, or differently, when told to.
public enum FakeIdentityProviderFault: Sendable, Hashable, CaseIterable {
    // MARK: Metadata and transport

    /// The metadata names another issuer.
    case foreignIssuerInMetadata
    /// The metadata does not promise PKCE with S256.
    case hidesProofKeys
    /// No connection can be made.
    case unreachable
    /// The next answer, whatever it is, is status 500.
    case failsOnce
    /// The token endpoint answers 429 with a pause of 90 s.
    case overloaded
    /// Every answer is larger than a client should read.
    case floods

    // MARK: Through the browser

    /// The answer carries the state of another sign-in.
    case wrongState
    /// The answer carries no state.
    case noState
    /// The answer names another issuer.
    case foreignIssuerInAnswer
    /// The answer names no issuer although the metadata promises it.
    case noIssuerInAnswer
    /// The answer has the code twice.
    case repeatedCode
    /// The answer goes to another address than the redirect.
    case wrongRedirect
    /// The person says no.
    case accessDenied
    /// A pushed request's reference has expired before the browser brings it, once.
    case expiredReferenceOnce

    // MARK: ID tokens

    /// The ID token is not signed at all.
    case unsignedIDToken
    /// The ID token is signed with the public key as a shared secret.
    case symmetricIDToken
    /// The ID token is signed by a key that is not the provider's, under the provider's key id.
    case forgedIDToken
    /// The ID token's key id is unknown.
    case unknownKeyID
    /// The ID token names no key id.
    case noKeyID
    /// The ID token has expired.
    case expiredIDToken
    /// The ID token is from the future.
    case futureIDToken
    /// The ID token is for another client.
    case foreignAudience
    /// The ID token has an empty audience.
    case emptyAudience
    /// The ID token is for two clients and was issued to the other.
    case foreignParty
    /// The ID token comes from another issuer.
    case foreignIssuerInIDToken
    /// The ID token belongs to another sign-in.
    case wrongNonce
    /// The ID token names no sign-in.
    case noNonce
    /// The ID token belongs to another access token.
    case wrongAccessTokenHash
    /// No ID token at all.
    case noIDToken
    /// The authentication time is a fraction.
    case fractionalAuthenticationTime

    // MARK: Tokens

    /// Tokens come back unbound although a proof was sent.
    case unboundTokens
    /// A proof must carry the server's nonce.
    case demandsNonce
    /// Proofs of possession are not offered.
    case noProofs
    /// Only reserved scopes are granted.
    case declinesScopes
    /// Renewals give no ID token.
    case noIDTokenOnRenewal
    /// Renewals name another person.
    case otherPersonOnRenewal
    /// Renewals do not rotate the refresh token.
    case noRotation
    /// No refresh tokens.
    case noRefreshTokens

    // MARK: Other endpoints

    /// The next device poll is answered `slow_down`.
    case slowDownOnce
    /// Pushed authorization requests are offered and required.
    case pushedRequests
    /// Public clients may not revoke without a bearer token.
    case revocationNeedsToken
    /// No client may revoke.
    case refusesRevocation
    /// There is no revocation endpoint.
    case noRevocation
}
