import Foundation

/// Runs Python programs that judge what Swift wrote.
enum Python {
    /// Whether Python is installed with a package.
    static func has(_ package: String) -> Bool {
        (try? run(["-c", "import \(package)"]).status) == 0
    }

    /// Runs a program to its end; what it wrote to standard output, and its exit status.
    static func run(_ arguments: [String]) throws -> (status: Int32, output: Data) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }
}
