import CordonBase
import CordonIdentity
import CordonService
import Foundation
import HTTPTypes

/// Counts what registrations and people ask, and holds back who asks too often (SRV-CI-090).
///
/// Only callers whose token and proof are good are counted, and statements that a device's key signed, so strangers can
/// neither fill it nor use up another caller's share. Shared devices have one of their own.
///
/// What is remembered of a caller is forgotten once their share is whole again; callers without end are not remembered for that.
final class RequestLimiter: Sendable {
    /// What one kind of caller may do.
    private struct Rate {
        var burst: Double
        var perSecond: Double
    }

    private let limits: CheckInLimits
    private let capacity: Int
    private let state: Locked<State>

    private struct State {
        var buckets: [String: TokenBucket] = [:]
        /// With how many it is looked for those that are whole again: twice as many as were left the last time, so that each look is paid for by
        /// as many callers.
        var limit: Int
    }

    /// With fewer, none is looked for.
    private static let fewest = 1_024

    init(_ limits: CheckInLimits, capacity: Int = 400_000) {
        self.limits = limits
        self.capacity = capacity
        state = Locked(State(limit: min(capacity, Self.fewest)))
    }

    /// How many shares are remembered.
    var count: Int { state.withLock { $0.buckets.count } }

    /// Lets a check-in through.
    ///
    /// - Throws: A refusal with status 429 that says when to come back.
    func admitCheckIn(_ caller: DeviceCaller, at now: Date) throws {
        // The app's own share first: what is refused for it takes nothing from the person's other apps.
        try admit(
            "r/\(caller.tenant.rawValue)/\(caller.keyThumbprint)",
            Rate(burst: limits.burst, perSecond: limits.perRegistrationAndMinute / 60), at: now)
        try admit(
            "p/\(Self.person(caller))",
            Rate(burst: limits.perPersonAndHour, perSecond: limits.perPersonAndHour / 3_600),
            at: now)
    }

    /// Lets an enrolment through.
    ///
    /// - Throws: A refusal with status 429 that says when to come back.
    func admitRegistration(_ caller: DeviceCaller, at now: Date) throws {
        let rate = limits.registrationsPerPersonAndHour
        try admit("e/\(Self.person(caller))", Rate(burst: rate, perSecond: rate / 3_600), at: now)
    }

    /// Lets a report of a command through.
    ///
    /// - Parameter isAwaited: Whether the service issued the command and has not heard how it ended. Such a report has a second
    ///   share, which reports of what was never asked for do not use up and which no honest app comes near.
    /// - Throws: A refusal with status 429 that says when to come back.
    func admitReport(
        _ caller: DeviceCaller, at now: Date, isAwaited: () async throws -> Bool
    ) async throws {
        let registration = "\(caller.tenant.rawValue)/\(caller.keyThumbprint)"
        do {
            return try admit(
                "a/\(registration)", Rate(burst: limits.burst, perSecond: limits.perRegistrationAndMinute / 60),
                at: now)
        } catch {
            guard try await isAwaited() else { throw error }
        }
        try admit(
            "i/\(registration)", Rate(burst: 6 * limits.burst, perSecond: limits.perRegistrationAndMinute), at: now)
    }

    /// Lets a request about the share of a key through; they are rare, and have a share of their own.
    ///
    /// - Throws: A refusal with status 429 that says when to come back.
    func admitRecovery(_ caller: DeviceCaller, at now: Date) throws {
        try admit(
            "k/\(caller.tenant.rawValue)/\(caller.keyThumbprint)",
            Rate(burst: limits.burst, perSecond: limits.perRegistrationAndMinute / 60), at: now)
    }

    /// Lets any other request of an app through: event streams, pieces of logs, and leaving.
    ///
    /// - Throws: A refusal with status 429 that says when to come back.
    func admitOther(_ caller: DeviceCaller, at now: Date) throws {
        try admit(
            "o/\(Self.person(caller))",
            Rate(burst: 10 * limits.perPersonAndHour, perSecond: limits.perPersonAndHour / 60), at: now)
    }

    /// Lets a statement of a shared device through.
    ///
    /// - Throws: A refusal with status 429 that says when to come back.
    func admitStatement(ofDevice id: String, at now: Date) throws {
        try admit("d/\(id)", Rate(burst: limits.burst, perSecond: limits.perSharedDeviceAndMinute / 60), at: now)
    }

    private static func person(_ caller: DeviceCaller) -> String {
        "\(caller.tenant.rawValue)/\(caller.account.id.rawValue.lowercased())"
    }

    private func admit(_ key: String, _ rate: Rate, at now: Date) throws {
        let wait = state.withLock { [capacity] state in
            let moment = now.timeIntervalSinceReferenceDate
            if state.buckets.count >= state.limit, state.buckets[key] == nil {
                Self.makeRoom(in: &state, capacity, at: moment)
            }
            return state.buckets[key, default: TokenBucket(burst: rate.burst, perSecond: rate.perSecond, at: moment)]
                .take(at: moment)
        }
        guard let wait else { return }
        throw Refusal(
            .tooManyRequests, "too-many-requests", "This was asked too often.",
            headers: [.retryAfter: String(Int(max(1, min(wait.rounded(.up), 3_600))))])
    }

    /// Forgets the shares that are whole again; where all of them together are too many, also those who asked longest ago.
    private static func makeRoom(in state: inout State, _ capacity: Int, at moment: Double) {
        state.buckets = state.buckets.filter { !$0.value.isFull(at: moment) }
        if state.buckets.count >= capacity {
            let oldest = state.buckets.sorted { $0.value.asked < $1.value.asked }
                .prefix(state.buckets.count - capacity / 2)
            for (key, _) in oldest { state.buckets[key] = nil }
        }
        state.limit = min(capacity, max(fewest, 2 * state.buckets.count))
    }
}
