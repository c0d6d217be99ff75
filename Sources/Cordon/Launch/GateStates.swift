internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy

/// How the launch gates of all accounts stand, which warnings the person has seen there, and why an account's data is kept from the
/// person; any thread. Accounts are given under the id that their rules are kept under.
final class GateStates: Sendable {
    private struct States {
        var gates: [AccountID: GateState] = [:]
        var seenWarnings: [AccountID: Set<String>] = [:]
        var blocks: [AccountID: AccountBlock] = [:]
    }

    private let states = Locked(States())
    private let accounts: AccountTable
    private let hasInterface: Bool

    init(_ context: ProtectionContext) {
        accounts = context.accounts
        hasInterface = context.configuration.interface != nil
    }

    /// Whether an account's gate was passed and is open; without an interface, rules that ask nobody for anything leave it open until
    /// it is tried.
    func isOpen(_ account: AccountID) -> Bool {
        if let state = states.withLock({ $0.gates[account] }) { return state.isOpen }
        return !hasInterface && accounts.state(of: account)?.rules.asksPerson != true
    }

    /// The reasons given while an account's gate is closed.
    func reasonsOfClosed(_ account: AccountID) -> [PolicyReason] {
        states.withLock { $0.gates[account]?.reasons } ?? [GateState.notPassed]
    }

    /// The accounts whose gate was passed and is open.
    var open: [AccountID] { states.withLock { $0.gates.filter(\.value.isOpen).map(\.key) } }

    /// Says how an account's gate stands; nil where it was not tried.
    func set(_ state: GateState?, for account: AccountID) { states.withLock { $0.gates[account] = state } }

    /// Closes a gate that was tried, whatever came of it.
    ///
    /// - Returns: Whether it was open.
    func closeIfTried(_ account: AccountID) -> Bool {
        states.withLock { states in
            guard let state = states.gates[account] else { return false }
            states.gates[account] = .closed([])
            return state.isOpen
        }
    }

    /// The warnings that were seen at an account's gate since the start.
    func seenWarnings(of account: AccountID) -> Set<String> { states.withLock { $0.seenWarnings[account] ?? [] } }

    /// Notes that warnings were seen.
    func addSeenWarnings(_ warnings: [String], of account: AccountID) {
        states.withLock { $0.seenWarnings[account, default: []].formUnion(warnings) }
    }

    /// Why an account's data is kept from the person at present (SDK-ID-50).
    func block(of account: AccountID) -> AccountBlock { states.withLock { $0.blocks[account] } ?? .notBlocked }

    /// The accounts whose data is kept from the person at present, in order.
    var blockedAccounts: [AccountID] {
        states.withLock { $0.blocks.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    /// Says why an account's data is kept from the person.
    func setBlock(_ block: AccountBlock, of account: AccountID) {
        states.withLock { $0.blocks[account] = block == .notBlocked ? nil : block }
    }

    /// Forgets how an account's gate stands and what was seen there; why its data was kept from the person stays.
    func forget(_ account: AccountID) {
        states.withLock { states in
            states.gates[account] = nil
            states.seenWarnings[account] = nil
        }
    }
}
