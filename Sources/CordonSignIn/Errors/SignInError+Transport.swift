internal import Foundation

extension SignInError {
    /// What a failed exchange means for a sign-in: no network is never "interaction required" (SI-078).
    init(_ error: TransportError, correlationID: UUID?) {
        var details = SignInErrorDetails()
        details.correlationID = correlationID
        switch error.code {
        case .unreachable:
            self.init(.network, .unreachable, "the identity provider cannot be reached", details: details)
        case .timedOut:
            self.init(.network, .timedOut, "the identity provider did not answer in time", details: details)
        case .answerTooLarge:
            self.init(.server, .invalidResponse, "the identity provider's answer is too large", details: details)
        case .badRequest:
            self.init(
                .configuration, .invalidParameter, "the identity provider's address is unusable", details: details)
        case .untrustedServer:
            self.init(
                .network, .unreachable, "the identity provider's certificate or key is not trusted", details: details)
        case .cancelled:
            self.init(.cancelled, .stopped, "the request was cancelled", details: details)
        }
    }
}
