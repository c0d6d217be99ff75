import Cordon
import CordonIdentity
import Foundation

/// A clock that a test sets; whoever sleeps on it waits until the task is cancelled.
final class TestTime: Sendable {
    private let moment: Locked<Date>

    init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { moment = Locked(start) }

    var now: Date { moment.withLock { $0 } }

    func advance(by seconds: TimeInterval) { moment.withLock { $0 += seconds } }

    func set(_ date: Date) { moment.withLock { $0 = date } }

    var clock: ProtectionClock {
        ProtectionClock(now: { self.now }, sleep: { _ in try await Task.sleep(for: .seconds(86_400)) })
    }
}

/// The events of a protection as they come, for a test that asks for them afterwards.
final class EventCatch: Sendable {
    private let caught = Locked<[ProtectionEvent]>([])
    private let task: Task<Void, Never>

    init(_ protection: AppProtection) {
        let events = protection.events()
        task = Task { [caught] in
            for await event in events { caught.withLock { $0.append(event) } }
        }
    }

    deinit { task.cancel() }

    /// Waits until an event came that is like this one.
    func first(where isWanted: @escaping @Sendable (ProtectionEvent) -> Bool) async -> ProtectionEvent? {
        for _ in 0..<2_000 {
            if let found = caught.withLock({ $0.first(where: isWanted) }) { return found }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }

    func has(_ event: ProtectionEvent) async -> Bool { await first { $0 == event } != nil }

    func count(where isWanted: @escaping @Sendable (ProtectionEvent) -> Bool) -> Int {
        caught.withLock { $0.count(where: isWanted) }
    }
}
