package import Foundation

/// How the keys of an identity provider stand.
package struct ProviderKeyState: Sendable, Equatable {
    /// The provider.
    package let issuer: String
    /// When its keys were fetched last, nil where that never succeeded.
    package let fetched: Date?
    /// Since when they cannot be fetched, nil while they can.
    package let failingSince: Date?
    /// Why they cannot.
    package let reason: String?

    /// Makes a state.
    package init(
        issuer: String, fetched: Date?, failingSince: Date? = nil, reason: String? = nil
    ) {
        self.issuer = issuer
        self.fetched = fetched
        self.failingSince = failingSince
        self.reason = reason
    }
}
