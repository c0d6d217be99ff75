import Foundation

/// Standard output carries data, standard error carries talk; nothing else writes to either.
enum Terminal {
    /// Writes a line of data to standard output.
    static func data(_ text: String) {
        write(Data((text + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes raw bytes of data to standard output.
    static func data(bytes: Data) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Writes a line meant for a person to standard error.
    static func talk(_ text: String) {
        write(Data((text + "\n").utf8), to: STDERR_FILENO)
    }

    /// Writes a value as JSON with sorted keys to standard output, followed by a line feed.
    static func json(_ value: some Encodable, pretty: Bool = true) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting =
            pretty ? [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes] : [.sortedKeys, .withoutEscapingSlashes]
        data(bytes: try encoder.encode(value) + Data("\n".utf8))
    }

    /// Whether standard output may be coloured: it is a terminal, and `NO_COLOR` is unset or empty.
    static var colour: Bool {
        isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Whether standard error is a terminal, and so may show progress.
    static var showsProgress: Bool {
        isatty(STDERR_FILENO) == 1
    }

    private static func write(_ bytes: Data, to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(written)
        }
    }
}
