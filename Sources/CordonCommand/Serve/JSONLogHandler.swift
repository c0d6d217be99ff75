import CordonIdentity
import Foundation
import Logging

/// Writes each log line as one JSON object, for a collector.
///
/// Of the metadata only what ``names`` lists is written: what a library adds some day, such as a request's path, could
/// name a person. A new name that is safe to log is added there.
struct JSONLogHandler: LogHandler {
    /// The members that are written, none of which says anything of a person.
    static let names: Set<String> = [
        "request", "method", "route", "status", "code", "failure", "reason", "operation", "saved", "removed", "wait",
        "change", "client", "chains", "counters", "alert", "apps", "at", "batch", "bytes", "connections", "correlation",
        "days",
        "duration",
        "endpoint", "file", "free", "hash", "hint", "others", "policy", "sequence", "span", "trace",
        "trace_id", "span_id", "parent_span_id",
    ]

    let label: String
    let write: @Sendable (String) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(label: String, write: @escaping @Sendable (String) -> Void) {
        self.label = label
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = [
            "time": Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            "level": event.level.rawValue, "logger": label, "message": "\(event.message)",
        ]
        for (name, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { _, new in new })
        where Self.names.contains(name) {
            line[name] = "\(value)"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(line) else { return }
        write(TerminalText.escaping(json: String(decoding: text, as: UTF8.self)))
    }
}
