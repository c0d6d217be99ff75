/// How a change of the PIN ended; see ``LaunchGates/changePIN(of:)``.
public enum PINChange: String, Sendable, Hashable, CaseIterable {
    /// The new PIN is in force, here and in the apps that share it.
    case changed
    /// The person cancelled or did not answer: the old PIN stays.
    case kept
    /// The account has no PIN that could be changed.
    case noPIN
    /// The account's gate is closed, or its data was removed meanwhile; guesses at the old PIN may have been too many.
    case closed
}
