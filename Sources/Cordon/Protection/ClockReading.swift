internal import CordonPolicy
internal import Foundation

/// When something happened, by the wall clock and by the time since the machine's start.
///
/// Within one run of the machine the time since is exact, whatever the wall clock was set to meanwhile. Across a restart
/// only the wall clock is left, and it may have been turned back.
struct ClockReading: Codable, Equatable, Sendable {
    /// Milliseconds since 1970, by the wall clock.
    let wall: Int64
    /// The machine's start, see ``BootReading``.
    let boot: String
    /// Milliseconds since that start.
    let uptime: Int64

    /// Marks this moment.
    init(_ clock: ProtectionClock) {
        let reading = clock.boot()
        wall = Int64((clock.now().timeIntervalSince1970 * 1000).rounded())
        boot = reading.boot
        uptime = reading.uptime.milliseconds
    }

    /// The time from this moment to a later one of the same run of the machine; nil across a restart.
    func sameRun(until now: ClockReading) -> Duration? {
        boot == now.boot && now.uptime >= uptime ? Self.span(from: uptime, to: now.uptime) : nil
    }

    /// The time from this moment; negative when the wall clock was turned back across a restart.
    func elapsed(until now: ClockReading) -> Duration {
        sameRun(until: now) ?? Self.span(from: wall, to: now.wall)
    }

    /// The least time that must have passed, whatever the wall clock says; nothing where ``tells(of:)`` is false.
    func atLeast(until now: ClockReading) -> Duration {
        sameRun(until: now) ?? (boot == now.boot || !tells(of: now) ? .zero : .milliseconds(now.uptime))
    }

    /// Whether the machine's starts and uptimes of both say anything of the time between: not where one of them is of another process alone.
    func tells(of other: ClockReading) -> Bool {
        boot == other.boot || BootReading.isOfMachine(boot) && BootReading.isOfMachine(other.boot)
    }

    /// The milliseconds between two readings; a plain record of an older version may hold any number.
    private static func span(from start: Int64, to end: Int64) -> Duration {
        let (span, isBeyond) = end.subtractingReportingOverflow(start)
        return .milliseconds(isBeyond ? (end > start ? .max : .min) : span)
    }
}

extension ClockReading: JSONReadable {
    init(_ members: JSONMembers) throws(PolicyError) {
        wall = try members.number("wall")
        boot = try members.text("boot")
        uptime = try members.number("uptime")
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
