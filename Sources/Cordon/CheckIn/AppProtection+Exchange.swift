internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

extension AppProtection {
    /// Runs an exchange with the service after those of the same account that came before.
    ///
    /// - Parameter refusal: The end of one that is asked for while the account's data is being removed, which may be by the
    ///   app's own part of that: the removal would wait for the exchange, and the exchange for the removal.
    func inTurn(
        _ account: AccountID, or refusal: EnrollmentStatus,
        _ exchange: @escaping @Sendable (isolated AppProtection) async -> Outcome
    ) async -> Outcome {
        guard !accounts.isRemoving(account) else { return Outcome(refusal, detail: Self.underWay.reason) }
        let before = exchanges[account]
        let turn = Task {
            _ = await before?.value
            let began = configuration.clock.boot().uptime
            var outcome = await exchange(self)
            outcome.duration = configuration.clock.boot().uptime - began
            return outcome
        }
        exchanges[account] = turn
        return await turn.value
    }

    /// What one exchange needs: a client that proves the account's key, and a token.
    struct Session: Sendable {
        let client: ServiceClient
        let token: String
    }

    /// The session of a check-in; where nobody is signed in any more, one without a token, because a disabled account has
    /// none and is still told so, and what to wipe (SRV-TG-32). Then also why there is no token.
    func checkInSession(
        for account: AccountID, discovery: ServiceDiscovery
    ) async throws(ServiceFailure) -> (client: ServiceClient, token: String?, refusal: ServiceFailure?) {
        do throws(ServiceFailure) {
            let session = try await session(for: account, discovery: discovery)
            return (session.client, session.token, nil)
        } catch {
            guard case .signIn(let failure) = error, failure.code == .interactionRequired,
                let signer = try? await configuration.sessions.signer(for: account)
            else { throw error }
            return (serviceClient(signer, discovery: discovery), nil, error)
        }
    }

    /// The account's session; an app's own token source that does not answer in time counts as a service that does not.
    func session(
        for account: AccountID, discovery: ServiceDiscovery
    ) async throws(ServiceFailure) -> Session {
        let sessions = configuration.sessions
        let answer = await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) {
            () async -> Result<(String, any MessageSigner), SignInError> in
            do throws(SignInError) {
                let signer = try await sessions.signer(for: account)
                let token = try await sessions.accessToken(
                    for: account, resource: discovery.resource, scopes: [discovery.scope])
                return .success((token.text, signer))
            } catch { return .failure(error) }
        }
        switch answer {
        case .success((let token, let signer)):
            return Session(client: serviceClient(signer, discovery: discovery), token: token)
        case .failure(let error): throw .signIn(error)
        case nil: throw .transport(TransportError(.timedOut, reason: "no token was given in time"))
        }
    }

    func serviceClient(_ signer: any MessageSigner, discovery: ServiceDiscovery) -> ServiceClient {
        ServiceClient(
            discovery: discovery, transport: configuration.transport, signer: signer, now: configuration.clock.now)
    }

    /// Tells of an envelope that was not accepted, and reports it at the next check-in; the rules in force stay.
    func refuse(_ error: ProtocolError, for account: AccountID) {
        configuration.logger.error("an envelope was refused", metadata: ["reason": "\(error.reason)"])
        broadcast.post(.envelopeRefused(account: account, error: error))
        let refusal = RefusedEnvelope(account: account, code: error.code.rawValue, time: configuration.clock.now())
        try? pending.change { $0.refusals = ($0.refusals + [refusal]).suffix(20) }
    }

}
