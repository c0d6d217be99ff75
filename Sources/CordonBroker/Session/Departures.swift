internal import CordonProtocol
internal import CordonSignIn

/// The sessions that have ended and whose apps are still cleaning up; in memory only, and not for long.
struct Departures {
    /// One session that has ended.
    struct Departure {
        /// The tokens handed out in the session.
        let tokens: HandedTokens
        /// The key that they are bound to.
        let signer: (any MessageSigner)?
        /// The apps that are waited for, by key.
        fileprivate let awaited: Set<String>
        /// How far each app is.
        fileprivate var stages: [String: CleanUpStage] = [:]
        /// Resumed when no app is waited for any more.
        fileprivate var waiter: CheckedContinuation<Void, Never>?

        /// What became of an app's clean-up.
        func outcome(of app: String) -> (DeviceSignOutReport.App.Outcome, CleanUpStage?) {
            let stage = stages[app]
            return (stage == .done ? .done : awaited.contains(app) ? .late : .notRunning, stage)
        }
    }

    private var departures: [UInt64: Departure] = [:]

    /// The session where it has just ended.
    subscript(session: UInt64?) -> Departure? { session.flatMap { departures[$0] } }

    mutating func begin(
        _ session: UInt64, tokens: HandedTokens, signer: (any MessageSigner)?, awaiting apps: Set<String>
    ) {
        departures[session] = Departure(tokens: tokens, signer: signer, awaited: apps)
    }

    @discardableResult
    mutating func end(_ session: UInt64) -> Departure? { departures.removeValue(forKey: session) }

    /// Whether apps are waited for.
    func isAwaited(_ session: UInt64) -> Bool { departures[session]?.awaited.isEmpty == false }

    /// Waits until every app of the session is done or gone, or ``stopWaiting(_:)``.
    mutating func wait(for session: UInt64, _ waiter: CheckedContinuation<Void, Never>, listening: Set<String>) {
        departures[session]?.waiter = waiter
        check(session, listening: listening)
    }

    /// Takes note of how far an app is.
    mutating func note(_ stage: CleanUpStage, of app: String, in session: UInt64, listening: Set<String>) {
        departures[session]?.stages[app] = stage
        check(session, listening: listening)
    }

    /// Looks whether the apps that are waited for still listen.
    mutating func checkAll(listening: Set<String>) {
        for session in departures.keys { check(session, listening: listening) }
    }

    private mutating func check(_ session: UInt64, listening: Set<String>) {
        guard let departure = departures[session], departure.waiter != nil else { return }
        let open = departure.awaited.filter { departure.stages[$0] != .done && listening.contains($0) }
        if open.isEmpty { stopWaiting(session) }
    }

    mutating func stopWaiting(_ session: UInt64) {
        departures[session]?.waiter?.resume()
        departures[session]?.waiter = nil
    }
}
