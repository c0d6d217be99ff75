import Foundation

/// A client that others wrote, run from `Tests/Clients` with the Python of the machine, or that of `CORDON_PYTHON`.
struct PythonClient {
    private static let python = ProcessInfo.processInfo.environment["CORDON_PYTHON"] ?? "python3"
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Clients")

    /// Whether the packages are installed; `Tests/requirements.txt` names their versions.
    static func has(_ packages: String...) -> Bool {
        let search = packages.map { "importlib.util.find_spec('\($0)')" }.joined(separator: " and ")
        let process = process(["-c", "import importlib.util, sys; sys.exit(0 if \(search) else 1)"])
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Runs a file of `Tests/Clients` to its end, without holding a thread; its exit status and all it printed.
    static func run(_ file: String, _ environment: [String: String]) async throws -> (status: Int32, output: String) {
        let process = process([folder.appending(path: file).path])
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let log = FileManager.default.temporaryDirectory.appending(path: "cordon-client-\(UUID().uuidString).log")
        try Data().write(to: log)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        let status = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                ended.resume(throwing: error)
            }
        }
        try handle.close()
        return (status, (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }

    private static func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python] + arguments
        return process
    }
}
