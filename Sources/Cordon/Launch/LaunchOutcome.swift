public import CordonIdentity
public import CordonPolicy

/// How passing the launch gate ended.
///
/// ```swift
/// let outcome = await protection.launch(account)
/// guard outcome.isOpen else { return show(outcome.reasons.first?.message ?? "You cancelled.") }
/// ```
/// After a wipe ``result`` is ``Result/wiped``, and the reasons say why; the account is then no longer enrolled.
public struct LaunchOutcome: Sendable, Equatable {
    /// The end of it.
    public enum Result: String, Sendable, Hashable, CaseIterable {
        /// The account's data may be shown.
        case opened
        /// The person cancelled; the data stays closed.
        case cancelled
        /// A condition is not met; the data stays closed.
        case blocked
        /// The account's data was removed, or is being removed at this moment.
        case wiped
    }

    /// Whose gate it was; nil when the app was started without an account.
    public let account: AccountID?
    /// The end of it.
    public let result: Result
    /// Every reason that the last look found, the gravest first; warnings that were seen stay among them.
    public let reasons: [PolicyReason]
    /// What was asked of the person and the service, in order.
    public let steps: [LaunchStep]

    init(account: AccountID?, result: Result, reasons: [PolicyReason] = [], steps: [LaunchStep] = []) {
        self.account = account
        self.result = result
        self.reasons = reasons
        self.steps = steps
    }

    /// Whether the account's data may be shown.
    public var isOpen: Bool { result == .opened }
}

/// One thing that the gate asked for.
public struct LaunchStep: Sendable, Hashable {
    /// What was asked for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The notice that the organisation manages the account.
        case managedNotice
        /// A warning was shown.
        case warning
        /// A block was shown with cause and remedy.
        case block
        /// The PIN.
        case pin
        /// A new PIN.
        case newPIN
        /// A fresh sign-in.
        case signIn
        /// Contact with the service.
        case checkIn
        /// The removal of the data.
        case wipe
    }

    /// How it was answered.
    public enum Answer: String, Sendable, Hashable, CaseIterable {
        /// Successfully.
        case done
        /// Wrongly, or not as the rules require.
        case refused
        /// The person cancelled.
        case cancelled
        /// Not in time, or there is no interface to ask through.
        case unanswered
        /// It cannot be done at present.
        case unavailable
    }

    /// What was asked for.
    public let kind: Kind
    /// How it was answered.
    public let answer: Answer

    /// States a step.
    public init(_ kind: Kind, _ answer: Answer) {
        self.kind = kind
        self.answer = answer
    }
}
