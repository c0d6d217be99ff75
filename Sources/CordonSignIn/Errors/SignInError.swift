package import CordonBase

/// Why signing in, renewing or signing out failed (SI-147).
///
/// Errors with the same ``code`` are equal. The reason never holds a token, code, verifier, password or user name (SI-080); what
/// the provider wrote is kept apart in ``SignInErrorDetails/providerDescription``.
public struct SignInError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The outcomes that an app has to tell apart; the list is closed.
    public enum Code: String, Sendable, CaseIterable {
        /// A person has to sign in (again): go interactive with the same parameters.
        case interactionRequired
        /// The provider granted only some of the scopes; the details list both.
        case declinedScopes
        /// The person or the app cancelled.
        case cancelled
        /// The provider wants the app under app protection first: enrol, then retry.
        case protectionRequired
        /// The provider wants a registered device.
        case deviceNotJoined
        /// The call works on a shared device only.
        case deviceNotShared
        /// Another person signed in than the request asked for.
        case accountMismatch
        /// More than one account fits the request.
        case ambiguousAccount
        /// No broker answers although one is required.
        case brokerUnavailable
        /// The broker does not serve this app.
        case brokerRefused
        /// No usable network; never reported as interaction required (SI-078).
        case network
        /// The provider is overloaded; the details say when to try again.
        case serverBusy
        /// The provider answered wrongly, or the answer must not be trusted.
        case server
        /// The app's settings or arguments do not fit the provider.
        case configuration
        /// The device's token store could not be read or written.
        case storage
    }

    /// The outcome. Equality compares nothing else.
    public let code: Code
    /// What exactly was wrong, for logs and tests.
    public let fault: SignInFault
    /// What happened, without secrets or names.
    public let reason: String
    /// What to do about it.
    public let hint: String
    /// What else is known.
    public var details: SignInErrorDetails
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error; the hint is the usual one of its code.
    public init(
        _ code: Code, _ fault: SignInFault, _ reason: String, hint: String? = nil,
        details: SignInErrorDetails = SignInErrorDetails(), file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.fault = fault
        self.reason = reason
        self.hint = hint ?? code.usualHint
        self.details = details
        codePlace = CodePlace(file, line)
    }

    /// Whether both have the same code.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// What to do about a time that device and provider see differently.
    static let clockHint =
        "Check this device's date and time; if they are right, tell the administrator of the identity provider."

    /// Code, fault, reason and hint; safe to log.
    public var description: String { "\(code.rawValue) (\(fault.rawValue)): \(reason). \(hint)" }

    /// The same: the details stay out of logs, because the provider's own text may name people.
    public var debugDescription: String { description }
}

extension SignInError.Code {
    fileprivate var usualHint: String {
        switch self {
        case .interactionRequired: "Ask the person to sign in."
        case .declinedScopes: "Work with the granted scopes or ask the person to consent."
        case .cancelled: "Offer to sign in again."
        case .protectionRequired: "Enrol the account into app protection, then repeat the request."
        case .deviceNotJoined: "Register this device with the organisation."
        case .deviceNotShared: "Call this on a device in shared device mode only."
        case .accountMismatch: "Sign out first, or ask for the right account."
        case .ambiguousAccount: "Name the account."
        case .brokerUnavailable: "Start or install the broker."
        case .brokerRefused: "Have an administrator allow this app."
        case .network: "Try again when the network is back."
        case .serverBusy: "Try again later."
        case .server: "Try again; if it stays, tell the administrator of the identity provider."
        case .configuration: "Compare the app's registration with its settings."
        case .storage: "Check that the app's data folder can be written."
        }
    }
}
