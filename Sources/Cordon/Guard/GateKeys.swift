internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonVault
internal import Crypto

/// When the keys behind the gates are in memory: while a gate is open, and behind it for as long as the rules would open it without
/// the person. Only keys that a share guards go; any other opens again by itself.
final class GateKeys: Sendable {
    private let tools: LaunchTools
    /// What ends the keys' time behind closed gates.
    private let departures = Locked<[AccountID: (task: Task<Void, Never>, isOver: Locked<Bool>)]>([:])
    /// What brings keys into the state that the rules ask for.
    private let changes = Locked<[AccountID: Task<Void, Never>]>([:])

    init(_ tools: LaunchTools) {
        self.tools = tools
    }

    /// The gate is closed, or was not passed: the key goes at once, unless the gate is open again.
    func close(_ account: AccountID) async { await Self.close(account, with: tools) }

    private static func close(_ account: AccountID, with tools: LaunchTools) async {
        await tools.guards.close(account) { tools.gates.isOpen(account) }
    }

    /// The app leaves the front: the key goes when the rules would ask the person for something.
    ///
    /// - Parameters:
    ///   - departure: Notes when the person was last there.
    ///   - isRenewed: Whether the time begins anew, because the gate was open until now. One that runs goes on otherwise.
    func closeWhenDue(_ account: AccountID, after departure: Task<Void, Never>?, anew isRenewed: Bool) {
        departures.withLock { departures in
            if let running = departures[account] {
                guard isRenewed || running.isOver.withLock({ $0 }) else { return }
                running.task.cancel()
            }
            let isOver = Locked(false)
            let task = Task { [tools] in
                await departure?.value
                await Self.wait(for: account, with: tools)
                isOver.withLock { $0 = true }
            }
            departures[account] = (task, isOver)
        }
    }

    private static func wait(for account: AccountID, with tools: LaunchTools) async {
        let period = tools.rules.policy(of: .managed(account))?.policy.access.periodOnlineBeforeAccessCheck ?? .zero
        var pause = period + .seconds(1)
        while await tools.guards.isGuarded(account), await !tools.guards.isClosed(account) {
            do { try await tools.context.configuration.clock.sleep(pause) } catch { return }
            guard !tools.gates.isOpen(account) else { return }
            if await !tools.conditions.decision(of: account, on: .resume).verdict.permits {
                return await close(account, with: tools)
            }
            // Another app of the organisation has seen the person since.
            pause = max(pause, .seconds(60))
        }
    }

    /// Brings the key into the state that the rules ask for, beside the work at hand.
    ///
    /// - Parameter pin: The PIN, where the person has entered it, or a finger in its place.
    func applyRules(to account: AccountID, with pin: GivenPIN?) {
        changes.withLock { [tools] changes in
            let before = changes[account]
            changes[account] = Turn.outside {
                Task {
                    await before?.value
                    await tools.guards.applyRules(to: account, with: pin, through: tools.guardService)
                }
            }
        }
    }

    /// Returns when what was begun by ``applyRules(to:with:)`` has ended.
    func finishChanges(_ account: AccountID) async { await changes.withLock { $0[account] }?.value }
}
