internal import CordonIdentity
internal import Foundation

/// Answers a request from memory while the same one has just failed (SI-121).
struct RequestThrottle: Sendable {
    private var failures: [RenewalKey: (error: SignInError, until: Date)] = [:]

    private static let busy: TimeInterval = 60
    private static let interaction: TimeInterval = 120
    private static let mostFailures = 128

    /// The failure to repeat, nil when the request may go out.
    func failure(of key: RenewalKey, now: Date) -> SignInError? {
        guard let known = failures[key], now < known.until, now > known.until.addingTimeInterval(-3_700) else {
            return nil
        }
        var error = known.error
        error.details.isThrottled = true
        return error
    }

    /// Remembers a failure of the provider; failures of the network and of this device are not held against it.
    mutating func note(_ error: SignInError, of key: RenewalKey, now: Date) {
        let pause: TimeInterval
        switch error.code {
        case .interactionRequired where error.details.httpStatus != nil, .declinedScopes: pause = Self.interaction
        case .serverBusy:
            pause = error.details.retryAfter.map { TimeInterval($0.components.seconds) } ?? Self.busy
        case .server where (error.details.httpStatus ?? 0) >= 500:
            pause = error.details.retryAfter.map { TimeInterval($0.components.seconds) } ?? Self.busy
        default: return
        }
        failures = failures.filter { $0.value.until > now }
        guard failures.count < Self.mostFailures else { return }
        failures[key] = (error, now + pause)
    }
}
