internal import CordonBase
public import Logging

extension SignInClient {
    /// Logs from now on how signing in, renewing and signing out ended (SDK-LG-02): the provider, the operation and the
    /// error's code. Never a name, a token, or what a provider wrote. Any thread.
    ///
    /// `AppProtection` passes its own logger, unless the app's `SignInLogOverrideDisabled` keeps the logs apart.
    public nonisolated func log(to logger: Logger) {
        log.logger.withLock { $0 = logger }
    }

    /// Does something and notes how it ended.
    func noted<Value>(
        _ operation: SignInLog.Operation, _ work: () async throws(SignInError) -> Value
    ) async throws(SignInError) -> Value {
        do {
            let value = try await work()
            log.note(operation, nil, at: configuration.issuer)
            return value
        } catch {
            log.note(operation, error, at: configuration.issuer)
            throw error
        }
    }
}

/// Where a client writes, nowhere at first.
struct SignInLog: Sendable {
    /// What a client does that is worth a line.
    enum Operation: String, Sendable {
        case browser = "sign-in by browser"
        case deviceCode = "sign-in by device code"
        case renewal
        case signOut = "sign-out"
        /// Of earlier sign-outs; noted only where it fails.
        case revocation
    }

    let logger = Locked<Logger?>(nil)

    func note(_ operation: Operation, _ error: SignInError?, at issuer: String) {
        guard let logger = logger.withLock({ $0 }) else { return }
        guard let error else {
            return logger.info("\(operation.rawValue) succeeded", metadata: ["provider": "\(issuer)"])
        }
        // A person who cancels, and one who has to sign in, are no fault.
        let level: Logger.Level = [.cancelled, .interactionRequired].contains(error.code) ? .info : .warning
        logger.log(
            level: level, "\(operation.rawValue) failed",
            metadata: ["provider": "\(issuer)", "code": "\(error.code.rawValue)", "fault": "\(error.fault.rawValue)"])
    }
}
