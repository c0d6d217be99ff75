/// How far the operating system itself protects a file beside the vault (SDK-FP-18), weakest first.
///
/// On Apple platforms these are the data-protection classes; elsewhere the system has none and the level is kept as a
/// value. A sealed file is ciphertext under every level; the class decides when the ciphertext and the account key records
/// can be read at all.
public enum FileProtectionLevel: String, Sendable, Codable, CaseIterable, Comparable {
    /// Readable whenever the device runs.
    case none = "NSFileProtectionNone"
    /// Readable from the first unlock after a start on; what an app needs that works behind the lock screen.
    case completeUntilFirstUserAuthentication = "NSFileProtectionCompleteUntilFirstUserAuthentication"
    /// Closed when the device locks, but for files that are open.
    case completeUnlessOpen = "NSFileProtectionCompleteUnlessOpen"
    /// Unreadable about ten seconds after the device locks.
    case complete = "NSFileProtectionComplete"

    /// Whether one protects less than another.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    /// The level that holds when a policy asks for one and the app caps it: the lower of both.
    public static func effective(policy: Self, cap: Self = .complete) -> Self { min(policy, cap) }

    private var rank: Int {
        switch self {
        case .none: 0
        case .completeUntilFirstUserAuthentication: 1
        case .completeUnlessOpen: 2
        case .complete: 3
        }
    }
}
