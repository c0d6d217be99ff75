import Foundation

/// Reads a file of lines piece by piece, so that a log of any length can be checked.
enum ExportLines {
    /// The longest line that is looked at, in bytes.
    static let longest = 8 << 20

    /// Hands over every line without its line feed; `-` is standard input.
    ///
    /// - Throws: ``CommandFailure`` with status 3 when the file cannot be read or holds no lines.
    static func read(_ path: String, _ body: (String) -> Void) throws {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, String(cString: strerror(errno))) }
        defer { if path != "-" { close(descriptor) } }
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(path, String(cString: strerror(errno)))
            }
            guard count > 0 else { break }
            var pieces = buffer[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let last = pieces.removeLast()
            for piece in pieces {
                body(String(decoding: rest + piece, as: UTF8.self))
                rest.removeAll(keepingCapacity: true)
            }
            rest += last
            guard rest.count <= longest else { throw failure(path, "a line is longer than \(longest) bytes") }
        }
        if !rest.isEmpty { body(String(decoding: rest, as: UTF8.self)) }
    }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(.badInput, "\(path): \(reason)", hint: "Give the file that the service exported.")
    }
}
