import Foundation

/// What comes on standard input, which may be a folder as well.
enum StandardInput {
    /// The bytes, up to a number or all of them.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`.
    static func read(upTo limit: Int? = nil) throws(CommandFailure) -> Data {
        // A command that only waits looks as if it hung.
        if isatty(STDIN_FILENO) == 1 { Terminal.talk("reading standard input; Ctrl-D ends it") }
        do {
            let input = FileHandle.standardInput
            return try (limit.map { try input.read(upToCount: $0) } ?? input.readToEnd()) ?? Data()
        } catch { throw CommandFailure(.badInput, "standard input cannot be read") }
    }
}
