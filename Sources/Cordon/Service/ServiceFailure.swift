internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn

/// Why an exchange with the service did not succeed, before it is turned into an enrolment status.
enum ServiceFailure: Error, Equatable {
    /// How much is told of what a service says, in characters.
    private static let longestReason = 300

    /// No complete answer came.
    case transport(TransportError)
    /// The service refused, and said why.
    case refused(ProblemDetails)
    /// The service has signed that it refused because the account was disabled or removed (SRV-TG-32).
    case disabled(ProblemDetails)
    /// No token could be had for asking.
    case signIn(SignInError)
    /// The answer is not what the protocol says, or is not properly signed.
    case unacceptable(ProtocolError)

    /// The status to report, with the one that stands for a network failure in this operation.
    func status(network: EnrollmentStatus) -> EnrollmentStatus {
        switch self {
        case .transport(let error): error.code == .timedOut ? .timedOut : network
        case .refused(let problem), .disabled(let problem): Self.status(of: problem)
        case .signIn(let error): Self.status(signIn: error.code, network: network)
        case .unacceptable: .parsingFailure
        }
    }

    /// What happened, one line without personal data.
    var reason: String {
        switch self {
        case .transport(let error): error.reason
        // Any server at the address may have written it, and logs are read in terminals.
        case .refused(let problem), .disabled(let problem):
            TerminalText(problem.detail ?? problem.title, limit: Self.longestReason).text
        case .signIn(let error): error.reason
        case .unacceptable(let error): error.reason
        }
    }

    /// What to do about it; nil where no answer came, and for that the usual hint says it.
    var hint: String? {
        switch self {
        case .transport(let error) where error.code == .untrustedServer:
            "Trust the authority of its certificate, if it is your organisation's own."
        case .transport: nil
        case .refused, .disabled: "Check the address. If it is right, try again later, or tell the administrator."
        case .signIn(let error): error.hint
        case .unacceptable: "Check that the address is that of a service, and of a version that this app knows."
        }
    }

    /// The answer that the account was disabled or removed, signed or not.
    var accountDisabled: ProblemDetails? {
        switch self {
        case .disabled(let problem): problem
        case .refused(let problem) where problem.type == ProblemDetails.accountDisabled: problem
        default: nil
        }
    }

    /// Whether the account counts as disabled after this. Nil where nothing is confirmed: the person could not be signed in, or the
    /// service did not sign the answer. What it did sign stands until it is heard again.
    func isAccountDisabled(before: Bool?) -> Bool? {
        if case .disabled = self { return true }
        guard accountDisabled != nil || status(network: .checkInNetworkFailure) == .authenticationRequired else {
            return before
        }
        return before == true ? true : nil
    }

    /// When the service wants to be asked again, in seconds; nil where it did not say.
    var retryAfter: Int? {
        switch self {
        case .refused(let problem), .disabled(let problem): problem.retryAfter
        case .transport, .signIn, .unacceptable: nil
        }
    }

    /// Whether the service does not know the key that signed the evidence (SRV-CI-082).
    var saysUnknownEvidenceKey: Bool {
        if case .refused(let problem) = self { problem.type == ProblemDetails.unknownEvidenceKey } else { false }
    }

    /// Whether the server that answered knows nothing of what was asked for.
    var isNotThere: Bool {
        if case .refused(let problem) = self { problem.status == 404 } else { false }
    }

    /// Whether the service knows the registration and keeps no share of it, or keeps none at all.
    var saysNoShare: Bool { isNotThere && !wantsNewRegistration }

    /// Whether the service itself says that it knows no registration of this key: it forgot it, or the registration is
    /// another key's, because a new sign-in has brought a new one.
    var wantsNewRegistration: Bool {
        guard case .refused(let problem) = self else { return false }
        return problem.status == 410 || problem.code == .registrationGone || isOfAnotherKey
    }

    /// Whether the service knows the registration by another key than this session's.
    var isOfAnotherKey: Bool {
        if case .refused(let problem) = self { problem.code == .notEnrolled } else { false }
    }

    private static func status(signIn code: SignInError.Code, network: EnrollmentStatus) -> EnrollmentStatus {
        switch code {
        case .interactionRequired: .authenticationRequired
        case .cancelled: .signInCancelled
        case .network: network
        default: .signInFailed
        }
    }

    /// A refusal is not signed: a code that means success, or that the app removes the account, is none that it may have.
    private static func status(of problem: ProblemDetails) -> EnrollmentStatus {
        guard let code = problem.code, !code.didSucceed, !code.mustRemoveAccount else {
            return status(http: problem.status)
        }
        return code
    }

    private static func status(http status: Int) -> EnrollmentStatus {
        switch status {
        case 401: .authenticationRequired
        case 410: .registrationGone
        case 408, 504: .timedOut
        default: .internalError
        }
    }
}
