import Foundation

/// Where a service keeps everything but its secrets.
enum ServiceDatabase: Equatable {
    /// Nowhere: all is gone when the process ends.
    case memory
    /// In one SQLite file.
    case sqlite(URL)

    init(_ text: String) throws(CommandFailure) {
        if text == "memory:" {
            self = .memory
        } else if text.hasPrefix("sqlite:"), text.count > "sqlite:".count {
            self = .sqlite(URL(fileURLWithPath: String(text.dropFirst("sqlite:".count))))
        } else {
            throw CommandFailure(
                .usage, "\(text.prefix { $0 != ":" }): is not a database that this build knows",
                hint: "use sqlite:PATH or memory:")
        }
    }
}
