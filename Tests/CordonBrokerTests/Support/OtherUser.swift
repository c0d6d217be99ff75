import Foundation
import Testing

/// Programs that a test runs as a user who owns nothing here and is no administrator.
enum OtherUser {
    static let id: UInt32 = 65_534

    private static let change = ["--reuid=\(id)", "--regid=\(id)", "--clear-groups"]
    private static let setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Whether this test may become that user, and that user may mount in a namespace of their own.
    static let hasNamespaces: Bool = {
        guard geteuid() == 0, let setpriv, FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else {
            return false
        }
        let probe = Process()
        probe.executableURL = URL(filePath: setpriv)
        probe.arguments = change + ["unshare", "-Urm", "mount", "--bind", "/usr/bin/true", "/usr/bin/false"]
        probe.standardError = FileHandle.nullDevice
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()

    /// Runs a program as that user; everything that it wrote.
    static func run(_ arguments: [String], below folder: URL) async throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: try #require(setpriv))
        process.arguments = change + arguments
        let output = folder.appending(path: "output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        await withCheckedContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume() }
        }
        return try String(contentsOf: output, encoding: .utf8)
    }
}
