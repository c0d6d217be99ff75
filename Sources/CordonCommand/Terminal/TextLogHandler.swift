import CordonIdentity
import Foundation
import Logging

/// Writes each log line as one line for a person, whatever stands in it.
struct TextLogHandler: LogHandler {
    let label: String
    let write: @Sendable (String) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(label: String, write: @escaping @Sendable (String) -> Void = { Terminal.talk($0) }) {
        self.label = label
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " }.joined()
        let line = "\(Date().formatted(.iso8601)) \(event.level) \(label): \(values)[\(event.source)] \(event.message)"
        write(TerminalText(line, limit: 16_384).text)
    }
}
