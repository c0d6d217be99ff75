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

    /// Message and hint in whole sentences, for a place where they follow others.
    var sentences: String {
        [message, hint].compactMap(\.self).filter { !$0.isEmpty }.map { text in
            "\(text.prefix(1).uppercased())\(text.dropFirst())\(text.hasSuffix(".") ? "" : ".")"
        }.joined(separator: " ")
    }

    /// A refusal has its first reason's own words.
    init(_ error: ProtectionError) {
        decision = error.denial
        message = error.reason
        hint = error.hint
    }
}
