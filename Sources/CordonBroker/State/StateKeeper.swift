internal import CordonIdentity
internal import CordonSignIn

/// The broker's state in memory and on disk: changes that must survive a crash are written before they take effect.
struct StateKeeper {
    private let store: BrokerStore
    private(set) var current: BrokerState
    /// Every person whom the file names, and the session that it says is in force.
    private var written: (people: Set<AccountID>, session: UInt64?)
    /// Whether ``flush()`` would write anything.
    private(set) var isUnsaved = false

    init(_ state: BrokerState, in store: BrokerStore) {
        current = state
        written = (state.people, state.account?.session)
        self.store = store
    }

    /// Writes the state, and only then makes it visible. A person whom it no longer names cannot be read from the file that it replaces.
    mutating func commit(_ changed: BrokerState) throws(SignInError) {
        let (people, session) = (changed.people, changed.account?.session)
        let hasEnded = written.session != nil && written.session != session
        try store.save(changed, forgetting: hasEnded || !written.people.isSubset(of: people))
        written = (people, session)
        current = changed
        isUnsaved = false
    }

    /// Changes what does no harm if a crash forgets it: an app is then told once more of a change that it knows, or cleans
    /// up once more. A hundred apps that clean up at once would otherwise wait for the disk one after the other. Also a sign-out that the disk
    /// did not take.
    mutating func changeLazily(_ changed: BrokerState) {
        current = changed
        isUnsaved = true
    }

    /// Writes what ``changeLazily(_:)`` left, if it left anything.
    mutating func flush() throws(SignInError) {
        if isUnsaved { try commit(current) }
    }
}
