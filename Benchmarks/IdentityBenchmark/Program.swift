import Foundation

/// A program of these benchmarks; they stand side by side.
struct Program {
    static let plain = Program(url: own.url.deletingLastPathComponent().appendingPathComponent("PlainDispatch"))
    static let own = Program(url: URL(fileURLWithPath: CommandLine.arguments[0]))

    let url: URL

    /// Runs it and gives what it prints.
    func output(_ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = url
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }
}
