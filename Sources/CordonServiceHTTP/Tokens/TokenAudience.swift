/// For which of the service's two sides a token was made; a token of one side never opens the other (SRV-CI-078).
public enum TokenAudience: String, Sendable, CaseIterable {
    /// The check-in routes of apps.
    case checkIn
    /// The administration routes.
    case administration
}
