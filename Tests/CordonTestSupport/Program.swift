package import Foundation

/// Programs that others wrote and that tests run, so that they judge what Cordon made, or act as its clients.
package enum Program {
    /// How a program ended, and what it wrote.
    package struct Result: Sendable {
        /// Its exit code; of a program that a signal ended, the signal's number.
        package let status: Int32
        /// Whether a signal ended it.
        package let wasSignalled: Bool
        /// Its standard output.
        package let output: Data
        /// Its standard error.
        package let errors: Data
        /// Its standard output as text.
        package var text: String { String(decoding: output, as: UTF8.self) }
        /// Both as text, for a message.
        package var everything: String { text + String(decoding: errors, as: UTF8.self) }
    }

    /// A program that had to succeed and did not.
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// The interpreter that `CORDON_PYTHON` names, or the first one on the search path.
    package static let python = ProcessInfo.processInfo.environment["CORDON_PYTHON"] ?? find("python3")

    /// The first of these programs on the search path or beside the Swift toolchain.
    package static func find(_ names: String...) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        var folders = path.split(separator: ":").map(String.init)
        if let swift = folders.map({ $0 + "/swift" }).first(where: FileManager.default.isExecutableFile(atPath:)) {
            folders.append(URL(filePath: swift).resolvingSymlinksInPath().deletingLastPathComponent().path)
        }
        return names.lazy.flatMap { name in folders.map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether Python finds all of these packages; looked for without importing them, which can take seconds.
    package static func hasPython(with packages: String...) -> Bool {
        guard let python else { return false }
        let found = packages.map { "importlib.util.find_spec('\($0)')" }.joined(separator: " and ")
        let script = "import importlib.util, sys; sys.exit(0 if \(found.isEmpty ? "True" : found) else 1)"
        return (try? run(python, ["-c", script]).status) == 0
    }

    /// Runs a program to its end and holds the thread meanwhile.
    ///
    /// - Parameters:
    ///   - environment: What to add to this process's environment.
    ///   - input: Its standard input; nothing where nil.
    package static func run(
        _ program: String, _ arguments: [String], in folder: URL? = nil, environment: [String: String] = [:],
        input: Data? = nil
    ) throws -> Result {
        let run = try Run(program, arguments, in: folder, environment: environment, input: input)
        try run.process.run()
        run.process.waitUntilExit()
        return try run.result()
    }

    /// Runs a program to its end without holding a thread.
    package static func run(
        _ program: String, _ arguments: [String], in folder: URL? = nil, environment: [String: String] = [:],
        input: Data? = nil
    ) async throws -> Result {
        let run = try Run(program, arguments, in: folder, environment: environment, input: input)
        try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
            run.process.terminationHandler = { _ in ended.resume() }
            do { try run.process.run() } catch {
                run.process.terminationHandler = nil
                ended.resume(throwing: error)
            }
        }
        return try run.result()
    }

    /// Runs a program that must succeed.
    @discardableResult
    package static func succeed(
        _ program: String, _ arguments: [String], in folder: URL? = nil, input: Data? = nil
    ) throws -> Result {
        let result = try run(program, arguments, in: folder, input: input)
        guard result.status == 0 else {
            throw Failed(description: "\(program) \(arguments.joined(separator: " ")): \(result.everything)")
        }
        return result
    }

    /// Runs Python to its end and holds the thread meanwhile.
    package static func runPython(_ arguments: [String], input: Data? = nil) throws -> Result {
        try run(python ?? "python3", arguments, input: input)
    }

    /// What a Python script writes, which must succeed.
    package static func python(_ script: String, _ arguments: [String] = []) throws -> String {
        try succeed(python ?? "python3", ["-c", script] + arguments).text
    }

    /// Runs one test of this program in a process of its own, to its end: the one whose name has these words.
    package static func runTest(_ words: String, environment: [String: String]) async throws -> Result {
        try await run(itself.path, arguments(forTest: words), environment: environment)
    }

    /// Starts one test of this program in a process of its own, which the caller ends.
    package static func startTest(_ words: String, environment: [String: String]) throws -> Process {
        let process = Process()
        process.executableURL = itself
        process.arguments = arguments(forTest: words)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        return process
    }

    /// Whether a test can be run in a process of its own.
    package static var canRunTests: Bool { FileManager.default.fileExists(atPath: "/proc/self/exe") }

    private static var itself: URL { URL(filePath: "/proc/self/exe").resolvingSymlinksInPath() }

    private static func arguments(forTest words: String) -> [String] {
        ["--testing-library", "swift-testing", "--filter", words]
    }

    /// Has another process kill this one after a time, at whatever it does then.
    package static func killThisProcess(after delay: Duration) throws {
        let milliseconds = delay / .milliseconds(1)
        _ = try killer("sleep \(milliseconds / 1000)")
    }

    /// Has another process kill this one, and waits for it.
    package static func dieByAnotherHand() -> Never {
        _ = try? killer("true")
        while true { pause() }
    }

    private static func killer(_ first: String) throws -> Process {
        let killer = Process()
        killer.executableURL = URL(filePath: "/bin/sh")
        killer.arguments = ["-c", "\(first); kill -9 \(getpid())"]
        try killer.run()
        return killer
    }
}

/// One run, whose output goes to files, so that no pipe fills up.
private struct Run {
    let process = Process()
    private let output: FileHandle
    private let errors: FileHandle

    init(
        _ program: String, _ arguments: [String], in folder: URL?, environment: [String: String], input: Data?
    ) throws {
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        (output, errors) = (try Self.file(), try Self.file())
        (process.standardOutput, process.standardError) = (output, errors)
        process.standardInput = try input.map { try Self.file($0) } ?? FileHandle.nullDevice
    }

    func result() throws -> Program.Result {
        Program.Result(
            status: process.terminationStatus, wasSignalled: process.terminationReason == .uncaughtSignal,
            output: try Self.contents(of: output),
            errors: try Self.contents(of: errors))
    }

    /// A file without a name.
    private static func file(_ contents: Data = Data()) throws -> FileHandle {
        let path = FileManager.default.temporaryDirectory.appending(path: "cordon-run-\(UUID().uuidString)")
        try contents.write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        return try FileHandle(forUpdating: path)
    }

    private static func contents(of file: FileHandle) throws -> Data {
        try file.seek(toOffset: 0)
        return try file.readToEnd() ?? Data()
    }
}
