internal import CordonService
package import Foundation

/// What a receiver of alerts is told of a condition.
package struct ConditionNotice: Sendable, Equatable {
    /// Where the condition is.
    package enum Stage: String, Sendable {
        /// It was found.
        case began
        /// It has lasted for another day.
        case lasts
        /// It is over.
        case ended
    }

    /// The id, random; the same at every delivery.
    package let id: String
    /// Where the condition is.
    package let stage: Stage
    /// When it was found first.
    package let since: Date
    /// The condition.
    package let condition: ServiceCondition

    /// Makes a notice.
    package init(id: String, stage: Stage, since: Date, condition: ServiceCondition) {
        self.id = id
        self.stage = stage
        self.since = since
        self.condition = condition
    }
}

/// Decides which notices of conditions a receiver is to get: when one begins, once a day while it lasts, and when it is over.
///
/// Kept in memory, because the store may be what fails; a service that starts again reports what it finds again. One that comes and
/// goes is told once: it is over when it was not seen for ``pause``.
package struct ConditionNotices: Sendable {
    /// How long a condition must be away to be over, in seconds.
    static let pause: TimeInterval = 600
    /// How often one that lasts is told, in seconds.
    static let interval: TimeInterval = 86_400

    private struct State {
        var condition: ServiceCondition
        let since: Date
        var seen: Date
        /// What the receiver has not taken yet.
        var open: ConditionNotice?
        var told: Date?
        var failures = 0
        var next: Date

        func notice(_ stage: ConditionNotice.Stage) -> ConditionNotice {
            ConditionNotice(id: UUID().uuidString, stage: stage, since: since, condition: condition)
        }
    }

    private var states: [String: State] = [:]

    /// Makes a memory in which nothing is the matter.
    package init() {}

    /// The notices to deliver now, in the order of their conditions' names; each is followed by ``note(_:delivered:at:)``.
    package mutating func due(_ conditions: [ServiceCondition], at now: Date) -> [ConditionNotice] {
        for condition in conditions {
            var state =
                states[condition.name] ?? State(condition: condition, since: now, seen: now, open: nil, next: now)
            state.condition = condition
            state.seen = now
            if state.open?.stage == .ended { state.open = nil }
            if let told = state.told {
                // What was told in the future was told while the clock was ahead.
                if state.open == nil, abs(now.timeIntervalSince(told)) >= Self.interval {
                    state.open = state.notice(.lasts)
                }
            } else if state.open == nil {
                state.open = state.notice(.began)
            }
            states[condition.name] = state
        }
        for (name, state) in states where abs(now.timeIntervalSince(state.seen)) >= Self.pause {
            // The end of a condition is news only where its beginning was told.
            guard state.told != nil else {
                states[name] = nil
                continue
            }
            if state.open?.stage != .ended { states[name]?.open = state.notice(.ended) }
        }
        return states.sorted { $0.key < $1.key }
            .compactMap { Redelivery.isDue($0.value.next, at: now) ? $0.value.open : nil }
    }

    /// Notes whether the receiver has a notice; one that was not taken is tried again later.
    package mutating func note(_ notice: ConditionNotice, delivered: Bool, at now: Date) {
        guard var state = states[notice.condition.name], state.open?.id == notice.id else { return }
        if delivered {
            guard notice.stage != .ended else {
                states[notice.condition.name] = nil
                return
            }
            state.told = now
            state.open = nil
            state.failures = 0
        } else {
            state.failures += 1
            state.next = Redelivery.next(after: state.failures, at: now)
        }
        states[notice.condition.name] = state
    }
}
