import CordonBase
import CordonProtocol
import CordonTesting
import Foundation

@testable import Cordon

/// The events of a protection as they come, for a test that asks for them afterwards.
final class EventCatch: Sendable {
    private let caught = Locked<[ProtectionEvent]>([])
    private let task: Task<Void, Never>
    private let broadcast: EventBroadcaster

    init(_ protection: AppProtection) {
        broadcast = protection.context.events
        let events = protection.events()
        task = Task { [caught] in
            for await event in events { caught.withLock { $0.append(event) } }
        }
    }

    deinit { task.cancel() }

    /// Waits until an event came that is like this one.
    func first(where isWanted: @escaping @Sendable (ProtectionEvent) -> Bool) async -> ProtectionEvent? {
        var found: ProtectionEvent?
        try? await until {
            found = caught.withLock { $0.first(where: isWanted) }
            return found != nil
        }
        return found
    }

    func has(_ event: ProtectionEvent) async -> Bool { await first { $0 == event } != nil }

    /// How everything that has ended until now ended, in order.
    func statuses() async -> [EnrollmentStatus] {
        _ = await count { _ in true }
        return caught.withLock { $0 }.compactMap { if case .status(let report) = $0 { report.status } else { nil } }
    }

    /// How many such events came until now.
    func count(where isWanted: @escaping @Sendable (ProtectionEvent) -> Bool) async -> Int {
        // Events come in order: once this one is here, so are all that were posted before it.
        let mark = ProtectionEvent.stateSetAside(reason: "mark \(UUID())")
        broadcast.post(mark)
        _ = await has(mark)
        return caught.withLock { $0.count(where: isWanted) }
    }
}
