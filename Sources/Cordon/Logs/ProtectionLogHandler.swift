internal import Foundation
internal import Logging

/// One logger's way into the log.
///
/// A level that is set here counts for this logger alone; until then the log's own does.
struct ProtectionLogHandler: LogHandler {
    let label: String
    let log: ProtectionLog
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private var ownLevel: Logger.Level?

    init(label: String, log: ProtectionLog) {
        self.label = label
        self.log = log
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? log.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // What stands nearer to the call counts: its own metadata, the logger's, the provider's.
        let wider = (metadataProvider?.get() ?? [:]).merging(metadata) { $1 }
        log.write(event, label: label, metadata: wider.merging(event.metadata ?? [:]) { $1 }, at: Date())
    }
}
