import Cordon
import CordonPolicy

/// Why a command did not do what it was told, in the words that the person sees.
struct Problem: Error {
    /// What is wrong.
    var message: String
    /// What to do.
    var hint: String?
    /// The verdict, where a rule said no.
    var decision: PolicyDecision?

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// A refusal, with the first reason's own words.
    init(_ denied: EgressDenied) {
        decision = denied.decision
        message = denied.decision.reasons.first?.message ?? "Your organisation does not allow this."
        hint = denied.decision.reasons.first?.remedy
    }

    init(_ error: ProtectionError) {
        message = error.reason
        hint = error.hint
    }
}
