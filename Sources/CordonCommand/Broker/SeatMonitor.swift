import CordonBroker
import Foundation

/// Lock and unlock of the screen as logind tells them, heard through `gdbus monitor`; ends with the process it runs.
struct SeatMonitor {
    /// What happened, in order.
    let events: AsyncStream<SeatEvent>
    private let process: Process

    /// Where the tool lies on the systems that have logind.
    private static let tool = "/usr/bin/gdbus"

    /// Starts listening.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` when the tool is not there.
    static func start(_ tool: String = tool) throws(CommandFailure) -> SeatMonitor {
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = ["monitor", "--system", "--dest", "org.freedesktop.login1"]
        let pipe = Pipe()
        process.standardOutput = pipe
        let (events, continuation) = AsyncStream.makeStream(of: SeatEvent.self, bufferingPolicy: .bufferingNewest(64))
        do { try process.run() } catch {
            throw CommandFailure(
                .badInput, "\(tool) cannot be run",
                hint: "Install it (package libglib2.0-bin), or leave --follow-seat out.")
        }
        let thread = Thread {
            var lines = MonitorLines()
            while case let bytes = pipe.fileHandleForReading.availableData, !bytes.isEmpty {
                for line in lines.take(bytes) {
                    if let event = SeatEvent(monitorLine: line) { continuation.yield(event) }
                }
            }
            continuation.finish()
        }
        thread.name = "cordon-seat"
        thread.start()
        return SeatMonitor(events: events, process: process)
    }

    /// Stops listening.
    func stop() {
        if process.isRunning { process.terminate() }
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
