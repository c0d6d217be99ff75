/// How an account's rules got to this app, for logs; the field's numbers (SDK-CO-09).
public enum PolicyChannel: Int, Sendable, Codable, CaseIterable {
    /// By the device's management; Cordon has no such channel, and never gives this one.
    case deviceManagement = 0
    /// From the organisation's service, for this app.
    case appManagement = 1
    /// Neither: debug policies.
    case other = 2
}
