import Foundation

/// Runs programs nobody here wrote, so that results are judged by others.
enum Program {
    struct Result {
        let status: Int32
        let output: Data
        var text: String { String(decoding: output, as: UTF8.self) }
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// The program's path: beside the Swift toolchain or on the search path.
    static func find(_ names: String...) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        var folders = path.split(separator: ":").map(String.init)
        if let swift = folders.map({ $0 + "/swift" }).first(where: FileManager.default.isExecutableFile(atPath:)) {
            folders.append(URL(fileURLWithPath: swift).resolvingSymlinksInPath().deletingLastPathComponent().path)
        }
        folders.append("/opt/swift/usr/bin")
        return names.lazy.flatMap { name in folders.map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program and collects what it prints on both outputs.
    static func run(_ program: String, _ arguments: [String], in folder: URL? = nil, input: Data? = nil) throws
        -> Result
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        if let input {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try input.write(to: file)
            process.standardInput = try FileHandle(forReadingFrom: file)
            try FileManager.default.removeItem(at: file)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: data)
    }

    /// Runs a program that must succeed.
    @discardableResult
    static func succeed(_ program: String, _ arguments: [String], in folder: URL? = nil) throws -> Result {
        let result = try run(program, arguments, in: folder)
        guard result.status == 0 else {
            throw Failed(description: "\(program) \(arguments.joined(separator: " ")): \(result.text)")
        }
        return result
    }

    /// Runs a Python script with arguments; its output is the result.
    static func python(_ script: String, _ arguments: [String] = []) throws -> String {
        try succeed(find("python3") ?? "/usr/bin/python3", ["-c", script] + arguments).text
    }

    static let hasPython = find("python3") != nil
}
