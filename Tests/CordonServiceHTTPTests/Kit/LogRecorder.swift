import CordonIdentity
import Logging

/// Keeps every line that is logged, with its metadata.
struct LogRecorder: LogHandler {
    final class Lines: Sendable {
        private let kept = Locked<[String]>([])

        var all: [String] { kept.withLock { $0 } }

        func append(_ line: String) { kept.withLock { $0.append(line) } }
    }

    let lines: Lines
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(_ lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        lines.append("\(event.message) \(all)")
    }
}
