import CordonBase
import CordonIdentity
import Foundation

/// Standard output carries data, standard error carries talk; nothing else writes to either.
///
/// What is in a text may come from anywhere: a file's name, a policy, a provider. Nothing of it reaches a terminal that the
/// terminal would obey.
enum Terminal {
    /// Writes one line of data to standard output. A line feed in it came with a text from outside and is shown as its number: what
    /// follows would look like a line of this tool's own.
    static func data(_ line: String) {
        write(text: line, onOneLine: true, to: STDOUT_FILENO)
    }

    /// Writes a text of several lines to standard output.
    static func data(lines: String) {
        write(text: lines, to: STDOUT_FILENO)
    }

    /// Writes bytes of data to standard output: as they are for a program, and safe to look at on a terminal.
    static func data(bytes: Data) {
        guard isatty(STDOUT_FILENO) == 1 else { return write(bytes, to: STDOUT_FILENO) }
        write(Data(Style.rendered(String(decoding: bytes, as: UTF8.self)).utf8), to: STDOUT_FILENO)
    }

    /// Writes one line meant for a person to standard error; a line feed in it is shown as its number.
    static func talk(_ line: String) {
        write(text: line, onOneLine: true, to: STDERR_FILENO)
    }

    /// Writes several lines meant for a person to standard error.
    static func talk(lines: String) {
        write(text: lines, to: STDERR_FILENO)
    }

    /// Writes over the line that is being shown on standard error; an empty text clears it.
    static func progress(_ text: String) {
        write(Data(("\r\u{1B}[K" + TerminalText(text).text).utf8), to: STDERR_FILENO)
    }

    /// Writes a value as JSON with sorted keys to standard output, followed by a line feed; what a terminal would obey is escaped.
    static func json(_ value: some Encodable, pretty: Bool = true) throws {
        try write(json: value, pretty: pretty)
        hasGivenJSON.withLock { $0 = true }
    }

    /// Writes what happens on the way to a command's own document, as JSON on one line.
    static func json(event: some Encodable) throws { try write(json: event, pretty: false) }

    private static func write(json value: some Encodable, pretty: Bool) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting =
            pretty ? [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes] : [.sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        write(Data((TerminalText.escaping(json: json) + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes a failure as JSON on one line, unless the command's own document says it already: a program that asked for one gets one.
    static func json(_ failure: CommandFailure) {
        guard !hasGivenJSON.withLock({ $0 }) else { return }
        try? json(["error": failure], pretty: false)
    }

    private static let hasGivenJSON = Locked(false)

    /// Why something of the data did not reach standard output; nil where all of it did.
    static var lossOfData: String? { loss.withLock { $0 } }

    private static let loss = Locked<String?>(nil)

    /// Whether colours are wanted: `NO_COLOR` is unset or empty.
    private static let wantsColours = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

    /// Whether standard error is a terminal, and so may show progress.
    static var showsProgress: Bool {
        isatty(STDERR_FILENO) == 1
    }

    private static func write(text: String, onOneLine: Bool = false, to descriptor: Int32) {
        // The other stream may be a file.
        let isColoured = wantsColours && isatty(descriptor) == 1
        write(Data((Style.rendered(text, onOneLine: onOneLine, isColoured: isColoured) + "\n").utf8), to: descriptor)
    }

    private static func write(_ bytes: Data, to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                let reason = String(cString: strerror(errno))
                if descriptor == STDOUT_FILENO { loss.withLock { $0 = $0 ?? reason } }
                return
            }
            rest = rest.dropFirst(written)
        }
    }
}
