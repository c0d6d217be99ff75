import CordonBase
import CordonBroker
import Foundation

/// Lock and unlock of the screen as logind tells them, heard through `gdbus monitor`; started again when it ends.
final class SeatMonitor: Sendable {
    /// What happened, in order; the first is how the screen is now.
    let events: AsyncStream<SeatEvent>
    private let continuation: AsyncStream<SeatEvent>.Continuation
    private let tool: String
    private let pauses: @Sendable (Int) -> Duration
    private let running = Locked<Process?>(nil)
    private let isStopped = Locked(false)

    /// Where the tool lies on the systems that have logind.
    private static let usualTool = "/usr/bin/gdbus"

    private init(_ tool: String, pauses: @escaping @Sendable (Int) -> Duration) {
        self.tool = tool
        self.pauses = pauses
        (events, continuation) = AsyncStream.makeStream(of: SeatEvent.self, bufferingPolicy: .unbounded)
    }

    /// Starts listening.
    ///
    /// - Parameter pauses: How long to wait before the next attempt, by how many failed in a row.
    /// - Throws: ``CommandFailure`` with status `badInput` when the tool is not there.
    static func start(
        _ tool: String = usualTool,
        pauses: @escaping @Sendable (Int) -> Duration = { .seconds(min(1 << min($0, 5), 30)) }
    ) throws(CommandFailure) -> SeatMonitor {
        guard FileManager.default.isExecutableFile(atPath: tool) else {
            throw CommandFailure(
                .badInput, "\(tool) cannot be run",
                hint: "Install it (package libglib2.0-bin), or leave --follow-seat out.")
        }
        let monitor = SeatMonitor(tool, pauses: pauses)
        let thread = Thread { monitor.listen() }
        thread.name = "cordon-seat"
        thread.start()
        return monitor
    }

    /// Stops listening.
    func stop() {
        isStopped.withLock { $0 = true }
        if let process = running.withLock({ $0 }) { Self.end(process) }
    }

    /// Ends the tool, which may have been started with SIGTERM blocked, as threads of a pool have it.
    private static func end(_ process: Process) {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    private func listen() {
        var failures = 0
        while !isStopped.withLock({ $0 }) {
            if hear() { failures = 0 } else { failures += 1 }
            guard !isStopped.withLock({ $0 }) else { break }
            continuation.yield(.unheard)
            Thread.sleep(forTimeInterval: TimeInterval(pauses(failures).components.seconds))
        }
        continuation.finish()
    }

    /// Listens until the tool exits, or logind leaves a question unanswered: what it was about is not told again, so all is asked anew. Returns
    /// whether anything was heard of the seat.
    private func hear() -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = ["monitor", "--system", "--dest", "org.freedesktop.login1"]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        running.withLock { $0 = process }
        // A stop that came before the process was there found nothing to end.
        if isStopped.withLock({ $0 }) { Self.end(process) }
        var seat = Seat()
        var lines = MonitorLines()
        var hasHeard = false
        func isTold(_ fact: SeatFact) -> Bool {
            if let event = seat.take(fact) { continuation.yield(event) }
            guard let session = seat.unknownSession else { return true }
            guard let hint = lockedHint(of: session), let kind = kind(of: session) else { return false }
            for answer in [hint, kind] {
                if let event = seat.take(answer) { continuation.yield(event) }
            }
            return true
        }
        while case let bytes = pipe.fileHandleForReading.availableData, !bytes.isEmpty {
            // The tool listens by now: nothing that changes from here on goes unheard.
            if !hasHeard {
                guard let now = activeSession(), isTold(now) else { break }
                hasHeard = true
                continuation.yield(seat.isLocked ? .locked : .unlocked)
            }
            guard lines.take(bytes).compactMap({ SeatFact(monitorLine: $0) }).allSatisfy(isTold) else { break }
        }
        Self.end(process)
        process.waitUntilExit()
        running.withLock { $0 = nil }
        return hasHeard
    }

    private func activeSession() -> SeatFact? {
        property("ActiveSession", of: "Seat", at: SeatFact.seat).flatMap { SeatFact(activeSession: $0) }
    }

    private func kind(of session: String) -> SeatFact? {
        property("Class", of: "Session", at: session).map { SeatFact(class: $0, session: session) }
    }

    private func lockedHint(of session: String) -> SeatFact? {
        property("LockedHint", of: "Session", at: session).flatMap { SeatFact(lockedHint: $0, session: session) }
    }

    /// Asks logind for a property; its text as the tool prints it.
    private func property(_ name: String, of kind: String, at place: String) -> String? {
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = [
            "call", "--system", "--timeout", "5", "--dest", "org.freedesktop.login1", "--object-path", place,
            "--method",
            "org.freedesktop.DBus.Properties.Get", "org.freedesktop.login1.\(kind)", name,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let said = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: said, as: UTF8.self) : nil
    }
}

/// Cuts a program's output into lines; a line that is too long is left out.
private struct MonitorLines {
    private var bytes: [UInt8] = []
    private static let longest = 16_384

    mutating func take(_ more: Data) -> [String] {
        bytes += more
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let rest = parts.popLast() ?? []
        bytes = rest.count <= Self.longest ? Array(rest) : []
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }
}
