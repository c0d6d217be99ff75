import CordonSignIn

extension Problem {
    /// What each outcome of signing in means for the person at the terminal, and what to do next (SI-143).
    ///
    /// Every outcome has its branch: a new one does not compile until it has its words.
    /// - Parameter isSomethingOpen: Whether the person has notes to go on with.
    init(_ error: SignInError, isSomethingOpen: Bool) {
        let next: String
        switch error.code {
        case .interactionRequired: next = "Type `sign-in`."
        case .declinedScopes:
            let missing = error.details.declinedScopes.joined(separator: ", ")
            next = "Type `sign-in` again and allow what the app asks for: \(missing)."
        case .cancelled: next = "Type `sign-in` when you are ready."
        case .protectionRequired: next = "Type `check-in`, then try once more."
        case .deviceNotJoined: next = "Ask your administrator to register this device."
        case .deviceNotShared: next = "Ask your administrator whether this device is meant to be shared."
        case .accountMismatch: next = "Type `sign-out` first, if that is you."
        case .ambiguousAccount: next = "Type `use` with the account that you mean."
        case .brokerUnavailable: next = "Your notes stay closed until the device's broker runs again."
        case .brokerRefused: next = "Ask your administrator to let this app use the device's account."
        case .network where isSomethingOpen:
            next = "Try again when there is a network; what is here can be used meanwhile."
        case .network: next = "Try again when there is a network."
        case .serverBusy:
            let wait = error.details.retryAfter.map { " in \($0.components.seconds) seconds" } ?? " later"
            next = "Try again\(wait)."
        case .server where error.fault == .passwordResetRequired: next = "Choose a new password, then type `sign-in`."
        case .server: next = "Try again later; tell your administrator if it stays."
        case .configuration: next = error.hint
        case .storage: next = "Look whether the disk is full, then try again."
        }
        self.init(error.reason, hint: next)
    }
}
