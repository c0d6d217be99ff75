import Logging

/// What a service says on standard error.
struct ServeLogging: Sendable, Equatable {
    /// How much a service says.
    enum Level: String, Codable, CaseIterable {
        case debug, info, notice, warning, error
    }

    /// In which form.
    enum Format: String, Codable, CaseIterable {
        /// A line for people.
        case text
        /// One JSON object a line.
        case json
    }

    var level = Level.notice
    var format = Format.text

    func logger(label: String) -> Logger {
        var logger = Logger(label: label) { [format] label in
            switch format {
            case .text: TextLogHandler(label: label)
            case .json: JSONLogHandler(label: label) { Terminal.talk($0) }
            }
        }
        logger.logLevel =
            switch level {
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            }
        return logger
    }
}
