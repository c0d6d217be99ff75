internal import CordonIdentity
internal import CordonPolicy

/// One way through an account's gate, from the first question to the outcome.
struct GatePassage: Sendable {
    let account: ManagedAccount?
    let occasion: LaunchOccasion
    /// What the last look found.
    var reasons: [PolicyReason] = []
    var steps: [LaunchStep] = []
    /// Cordon's screens are in front.
    var hasTakenOver = false
    /// The service was asked for contact, and there is no use in asking again.
    var hasCheckedIn = false
    /// The person signed in afresh on this way.
    var hasSignedIn = false
    /// The person entered the PIN on this way.
    var hasEnteredPIN = false
    /// The guess before was wrong.
    var lastPINWasWrong = false
    /// The person changes the PIN at will, and may leave it at the old one.
    var isChangingPIN = false
    /// What was noted of conditions that acted.
    var reported: Set<String> = []
    /// The service was told why data is about to be removed.
    var hasReportedRemoval = false
    /// How long to wait before the next guess.
    var pinWait = Duration.zero

    func outcome(_ result: LaunchOutcome.Result) -> LaunchOutcome {
        LaunchOutcome(account: account?.id, result: result, reasons: reasons, steps: steps)
    }
}

/// What follows from a step.
enum GateStep {
    /// Look again.
    case again
    /// The way ends here.
    case end(LaunchOutcome.Result)
}
