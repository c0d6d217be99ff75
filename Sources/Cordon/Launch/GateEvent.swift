public import CordonPolicy

/// What happens at an account's launch gate; see ``ProtectionEvent/gate(account:_:)``.
public enum GateEvent: Sendable, Equatable {
    /// The account's data may be shown.
    case opened
    /// It may not, for these reasons; hide it now.
    case closed([PolicyReason])
    /// Cordon's screens took the place of the app's, in every window (SDK-CO-11).
    case tookOver
    /// The app has its screen back; follows each ``tookOver`` once.
    case handedBack
    /// The app has to reach the organisation soon.
    case countdown(OfflineCountdown)
}
