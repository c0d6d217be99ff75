internal import CordonBase
package import Logging

/// Keeps what is logged: a line each, with its level, its words and its metadata by name.
package final class LogRecorder: Sendable {
    private let kept = Locked<[String]>([])

    package init() {}

    /// All lines so far.
    package var lines: [String] { kept.withLock { $0 } }

    /// A log that is kept, whatever the level.
    package var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = metadata.merging(event.metadata ?? [:]) { $1 }.map { "\($0.key)=\($0.value)" }.sorted()
            let line = (["\(event.level)", "\(event.message)"] + facts).joined(separator: " ")
            recorder.kept.withLock { $0.append(line) }
        }
    }
}
