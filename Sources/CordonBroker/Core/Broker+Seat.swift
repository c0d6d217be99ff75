internal import CordonSignIn
internal import Foundation

extension Broker {
    /// Follows the seat until the stream ends.
    public func follow(_ events: AsyncStream<SeatEvent>) async {
        for await event in events { await note(event) }
    }

    /// Takes note of a lock or unlock. A lock is no sign-out; one that lasts as long as the allowed idle time becomes one,
    /// because nothing counts as activity meanwhile (SI-201).
    public func note(_ event: SeatEvent) async {
        switch event {
        case .locked: isLocked = true
        case .unlocked:
            // Whoever unlocks too late must not find the session that was due to end.
            await endWhenDue()
            isLocked = false
            lastActivity = environment.now()
        }
    }

    func noteActivity(_ peer: Int) throws(SignInError) -> BrokerAnswer {
        _ = try app(peer)
        if !isLocked { lastActivity = environment.now() }
        return BrokerAnswer()
    }
}
