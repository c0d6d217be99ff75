internal import CordonBase
internal import CordonPolicy

/// How an account's gate stands.
enum GateState: Sendable, Equatable {
    /// It was passed.
    case open
    /// It was not, or the app has left the front since; the reasons that were found, if it was tried.
    case closed([PolicyReason])

    var isOpen: Bool { self == .open }

    /// The reasons to give while it is closed.
    var reasons: [PolicyReason] {
        guard case .closed(let reasons) = self else { return [] }
        let found = reasons.filter { !$0.verdict.permits }
        return found.isEmpty ? [Self.notPassed] : found
    }

    /// No attempt was made to pass it.
    static let notPassed = PolicyReason(
        rule: .launchGate, message: Texts.gateOrganisationChecksAtLaunchWereNot,
        remedy: Texts.gateOpenAppAndAnswerWhatIt, verdict: .block)
}
