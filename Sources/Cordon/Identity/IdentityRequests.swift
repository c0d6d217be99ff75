internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import Logging

/// What Cordon asks an app's delegate for: to show an identity's data, to take an account away from its windows, to add one.
struct IdentityRequests: Sendable {
    let windows = WindowChanges()
    private let configuration: ProtectionConfiguration
    private let accounts: AccountTable
    private let gates: GateStates

    init(_ context: ProtectionContext, gates: GateStates) {
        configuration = context.configuration
        accounts = context.accounts
        self.gates = gates
    }

    /// Asks the delegate, waits for so long, and takes everything but a yes as a no.
    nonisolated(nonsending) func ask(
        _ what: String, _ request: @escaping @Sendable (any IdentityDelegate, IdentityAnswer) async throws -> Void
    ) async -> Bool {
        let logger = configuration.logger
        guard let delegate = configuration.identityDelegate else {
            logger.warning("there is no handler to ask, so the answer is no", metadata: ["request": "\(what)"])
            return false
        }
        let answer = IdentityAnswer { _ in
            logger.warning("an answer came again or too late", metadata: ["request": "\(what)"])
        }
        let asking = Task {
            do { try await request(delegate, answer) } catch {
                logger.warning("the app failed to answer", metadata: ["request": "\(what)"])
                answer.fail()
            }
        }
        defer { asking.cancel() }
        let value = await answer.value(within: configuration.identityAnswerLimit, by: configuration.clock)
        if value == nil { logger.warning("no answer in time, so it is no", metadata: ["request": "\(what)"]) }
        return value ?? false
    }

    /// Has the app take an account whose gate stayed closed away from every window, while Cordon's screens cover them.
    nonisolated(nonsending) func takeAway(_ account: AccountID, _ session: inout InterfaceSession) async {
        guard configuration.identityDelegate != nil else { return }
        for window in windows(showing: account) {
            await session.takeOver()
            await hide(account, in: window, &session)
        }
    }

    /// The windows that show an account, under either of its names, in order.
    func windows(showing account: AccountID) -> [WindowID] {
        IdentityContext.everyWindow.filter { $0.value.contains { IdentityContext.areSame($0, .managed(account)) } }.keys
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Takes an account away from a window, or ends the app after the person was told.
    nonisolated(nonsending) func hide(
        _ account: AccountID, in window: WindowID, _ session: inout InterfaceSession
    ) async {
        let block = gates.block(of: accounts.resolved(account))
        let hidden = await ask("hide an account") { delegate, answer in
            try await delegate.hideAccount(account, in: window, because: block, answer: answer)
        }
        guard hidden else {
            configuration.logger.critical("the app did not hide a blocked account and has to end")
            let cause = ProtectionNotice.Cause(
                message: Texts.gateAppCouldNotTakeThisAccount,
                remedy: Texts.gateOpenAppAgainAndAnswerWhat, rule: Rule.launchGate.rawValue)
            await session.tell(ProtectionNotice(.blocked, account: account, causes: [cause]))
            await configuration.identityExit("The app could not hide an account that is blocked.")
            return
        }
        let number = windows.begin(window)
        let left = (IdentityContext.windowIdentities(of: window) ?? [])
            .filter { !IdentityContext.areSame($0, .managed(account)) }
        _ = windows.finish(number, of: window, left)
        await accounts.drawnWindows.look()
    }
}
