extension SignInError {
    /// The public `MSALError` code of this outcome; nil where that library keeps the system's own domain
    /// (network and storage, SI-142).
    public var msalCode: Int? {
        switch fault {
        case .insufficientDeviceStrength: return -50007
        case .retryAfterEnrollment: return -50008
        case .passwordResetRequired: return -50142
        default: return code.msalCode
        }
    }

    /// The `MSALInternalError` code found beside it, nil where there is none (SI-142, SI-144).
    public var msalInternalCode: Int? { fault.msalInternalCode }
}

extension SignInError.Code {
    /// The public `MSALError` code of an outcome, nil for those with a domain of their own.
    public var msalCode: Int? {
        switch self {
        case .deviceNotJoined: -50001
        case .interactionRequired: -50002
        case .declinedScopes: -50003
        case .protectionRequired: -50004
        case .cancelled: -50005
        case .server, .serverBusy: -50006
        case .deviceNotShared, .accountMismatch, .ambiguousAccount, .brokerUnavailable, .brokerRefused,
            .configuration:
            -50000
        case .network, .storage: nil
        }
    }
}

extension SignInFault {
    fileprivate var msalInternalCode: Int? {
        switch self {
        case .invalidParameter: -42000
        case .invalidRequest: -42002
        case .invalidClient: -42003
        case .invalidGrant: -42004
        case .invalidScope: -42005
        case .unauthorizedClient: -42006
        case .unhandledError: -42007
        case .unexpectedStatus: -42009
        case .issuerMismatch: -42010
        case .invalidRedirect: -42011
        case .mismatchedUser: -42101
        case .ambiguousAccount: -42102
        case .authorizationFailed: -42104
        case .accountRequired: -42106
        case .interactiveSessionRunning: -42402
        case .invalidState: -42501
        case .invalidResponse, .invalidIDToken, .nonceMismatch: -42600
        case .insecureAddress: -42602
        case .brokerDenied: -42711
        case .brokerMissing, .brokerUntrusted: -42714
        case .proofKeyUnsupported, .proofOfPossessionUnsupported, .unboundToken, .missingEndpoint, .accessDenied,
            .stopped, .timedOut,
            .unreachable, .overloaded, .consentRequired, .signedOut, .rolledBack, .storeDamaged, .storeUnavailable,
            .protectionPolicyRequired, .deviceRegistrationRequired, .passwordResetRequired,
            .insufficientDeviceStrength, .retryAfterEnrollment, .notShared, .cleanUpOwed, .sessionChanged:
            nil
        }
    }
}
