internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Logging

extension AppProtection {
    /// Runs an exchange with the service after those of the same account that came before.
    func inTurn(
        _ account: AccountID, _ exchange: @escaping @Sendable (isolated AppProtection) async -> EnrollmentStatus
    ) async -> EnrollmentStatus {
        let before = exchanges[account]
        let turn = Task {
            _ = await before?.value
            return await exchange(self)
        }
        exchanges[account] = turn
        return await turn.value
    }

    func serviceClient(
        for account: AccountID, discovery: ServiceDiscovery
    ) async throws(SignInError) -> ServiceClient {
        ServiceClient(
            discovery: discovery, transport: configuration.transport,
            signer: try await configuration.sessions.signer(for: account), now: configuration.clock.now)
    }

    func accessToken(for account: AccountID, discovery: ServiceDiscovery) async throws(SignInError) -> String {
        try await configuration.sessions.accessToken(
            for: account, resource: discovery.resource, scopes: [discovery.scope]
        ).text
    }

    /// The status that stands for a failed token request.
    nonisolated func status(of error: SignInError) -> EnrollmentStatus {
        switch error.code {
        case .interactionRequired: .authenticationRequired
        case .cancelled: .signInCancelled
        case .network: .checkInNetworkFailure
        default: .signInFailed
        }
    }

    /// Tells of an envelope that was not accepted; the rules in force stay.
    nonisolated func refuse(_ error: ProtocolError, for account: AccountID) {
        configuration.logger.error("an envelope was refused", metadata: ["reason": "\(error.reason)"])
        broadcast.post(.envelopeRefused(account: account, error: error))
    }

    nonisolated func log(_ what: String, _ failure: ServiceFailure) {
        configuration.logger.warning("\(what)", metadata: ["reason": "\(failure.reason)"])
    }
}
