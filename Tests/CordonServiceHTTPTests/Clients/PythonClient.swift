import CordonTestSupport
import Foundation

/// A client that others wrote, run from `Tests/Clients` with the Python of the machine, or that of `CORDON_PYTHON`.
struct PythonClient {
    private static let python = ProcessInfo.processInfo.environment["CORDON_PYTHON"] ?? "python3"
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Clients")

    /// Whether the packages are installed; `Tests/requirements.txt` names their versions.
    static func has(_ packages: String...) -> Bool {
        let search = packages.map { "importlib.util.find_spec('\($0)')" }.joined(separator: " and ")
        let script = "import importlib.util, sys; sys.exit(0 if \(search) else 1)"
        return (try? Program.run("/usr/bin/env", [python, "-c", script]).status) == 0
    }

    /// Runs a file of `Tests/Clients` to its end, without holding a thread; its exit status and all it printed.
    static func run(_ file: String, _ environment: [String: String]) async throws -> (status: Int32, output: String) {
        let result = try await Program.run(
            "/usr/bin/env", [python, folder.appending(path: file).path], environment: environment)
        // What libraries warn of comes first, what the client itself prints last.
        return (result.status, String(decoding: result.errors, as: UTF8.self) + result.text)
    }
}
