internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy

/// How the launch gates of all accounts stand, which warnings the person has seen there, and why an account's data is kept from the
/// person; any thread. Accounts are given under the id that their rules are kept under.
final class GateStates: Sendable {
    private struct Gate {
        /// Nil where it was not tried.
        var state: GateState?
        /// How often it was closed.
        var closings = 0
        /// After what time the rules asked for the PIN under which it was opened last; nil where they asked for none.
        var pinPeriod: Duration?
    }

    private struct States {
        var gates: [AccountID: Gate] = [:]
        var seenWarnings: [AccountID: Set<String>] = [:]
        var blocks: [AccountID: AccountBlock] = [:]
        /// How often the app has left the front: that closes every gate, tried or not.
        var departures = 0
        /// Whether the app has left the front, as it said.
        var isBehind = false

        /// Closes a gate, or makes it one that was not tried; whether it was open.
        mutating func close(_ account: AccountID, as state: GateState?) -> Bool {
            let wasOpen = gates[account]?.state?.isOpen == true
            gates[account, default: Gate()].state = state
            gates[account]?.closings += 1
            return wasOpen
        }

        func epoch(of account: AccountID) -> Int { (gates[account]?.closings ?? 0) + departures }
    }

    /// How an attempt to open a gate ended.
    enum Opening {
        case opened
        /// The gate was closed since the attempt began: what was found before says nothing any more.
        case wasClosed
        /// The app is not in front.
        case isBehind
    }

    private let states = Locked(States())
    private let accounts: AccountTable
    private let events: EventBroadcaster
    private let hasInterface: Bool

    init(_ context: ProtectionContext) {
        accounts = context.accounts
        events = context.events
        hasInterface = context.configuration.interface != nil
    }

    /// Whether an account's gate was passed and is open; without an interface, rules that ask the person for nothing leave it open until
    /// it is tried.
    func isOpen(_ account: AccountID) -> Bool { opening(of: account) != nil }

    /// The epoch in which an account's gate is open; nil while it is closed.
    func opening(of account: AccountID) -> Int? {
        let (gate, departures, isBehind) = states.withLock { ($0.gates[account], $0.departures, $0.isBehind) }
        let isOpen =
            gate?.state.map(\.isOpen)
            ?? (!isBehind && !hasInterface && accounts.state(of: account)?.rules.asksPerson != true
                && !accounts.mustSignIn(account))
        return isOpen ? (gate?.closings ?? 0) + departures : nil
    }

    /// The reasons given while an account's gate is closed.
    func reasonsOfClosed(_ account: AccountID) -> [PolicyReason] {
        states.withLock { $0.gates[account]?.state?.reasons } ?? [GateState.notPassed]
    }

    /// Closes a gate for what a look has found, and notifies observers.
    func close(_ account: AccountID, because reasons: [PolicyReason]) {
        states.withLock { states in
            _ = states.close(account, as: .closed(reasons))
            events.post(.gate(account: account, .closed(reasons)))
        }
    }

    /// Tells one opening of a gate from the next: another number after everything that closes it.
    func epoch(of account: AccountID) -> Int { states.withLock { $0.epoch(of: account) } }

    /// After what time the rules asked for the PIN under which a gate was opened last; nil where they asked for none.
    func pinPeriodAtOpening(of account: AccountID) -> Duration? { states.withLock { $0.gates[account]?.pinPeriod } }

    /// Opens a gate for an attempt that began in an epoch, unless something has closed it since, and notifies observers.
    ///
    /// - Parameter pinPeriod: After what time the rules ask for the PIN that let the person in; nil where they ask for none.
    func open(_ account: AccountID, in epoch: Int, askingAfter pinPeriod: Duration? = nil) -> Opening {
        states.withLock { states in
            if states.isBehind { return .isBehind }
            guard states.epoch(of: account) == epoch else { return .wasClosed }
            states.gates[account, default: Gate()].state = .open
            states.gates[account]?.pinPeriod = pinPeriod
            // Told here and wherever one closes, so that observers hear of both in their order.
            events.post(.gate(account: account, .opened))
            return .opened
        }
    }

    // MARK: The front

    /// Whether the app has left the front, as it said.
    var isBehind: Bool { states.withLock { $0.isBehind } }

    /// Closes every gate until the app is back, and notifies observers.
    ///
    /// - Returns: The accounts whose gate was open, in order.
    func leaveFront() -> [AccountID] {
        let untried = accounts.enrolled.filter { isOpen($0) }
        return states.withLock { states in
            states.isBehind = true
            states.departures += 1
            let tried = states.gates.filter { $0.value.state?.isOpen == true }.map(\.key)
            let open = (tried + untried.filter { states.gates[$0]?.state == nil })
                .sorted { $0.rawValue < $1.rawValue }
            for account in open {
                states.gates[account, default: Gate()].state = .closed([])
                events.post(.gate(account: account, .closed([GateState.notPassed])))
            }
            return open
        }
    }

    /// Lets gates be opened again; none opens by it.
    func comeToFront() { states.withLock { $0.isBehind = false } }

    /// Closes a gate that was tried, whatever came of it. One that was not stays so, and an attempt that is under way looks again.
    ///
    /// - Returns: Whether it was open; observers are notified then.
    func closeIfTried(_ account: AccountID) -> Bool {
        states.withLock { states in
            let wasOpen = states.close(account, as: states.gates[account]?.state.map { _ in .closed([]) })
            if wasOpen { events.post(.gate(account: account, .closed([GateState.notPassed]))) }
            return wasOpen
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

    /// Says why an account's data is kept from the person, as an attempt at its gate has ended.
    func setBlock(after outcome: LaunchOutcome, of account: AccountID) {
        setBlock(AccountBlock(SwitchGateAnswer(outcome)), of: account)
    }

    /// Forgets how an account's gate stands and what was seen there; why its data was kept from the person stays.
    ///
    /// - Parameters:
    ///   - isClosing: Whether that closes a gate which was open; observers are notified then.
    ///   - wasOpenUntried: Whether the gate was open if nobody has tried it and the app is in front.
    /// - Returns: Whether it was open.
    @discardableResult
    func forget(_ account: AccountID, isClosing: Bool = true, wasOpenUntried: Bool = false) -> Bool {
        states.withLock { states in
            states.seenWarnings[account] = nil
            let isUntried = states.gates[account]?.state == nil
            let wasOpen = states.close(account, as: nil) || wasOpenUntried && isUntried && !states.isBehind
            if wasOpen, isClosing { events.post(.gate(account: account, .closed([GateState.notPassed]))) }
            return wasOpen
        }
    }
}
