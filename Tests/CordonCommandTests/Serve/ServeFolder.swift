import CordonTestSupport
import Foundation

/// Runs a body with a fresh folder that is gone afterwards.
func withServeFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = try makeServeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}

/// Runs a body with a fresh folder that is gone afterwards.
func withServeFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = try makeServeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

private func makeServeFolder() throws -> URL {
    let folder = try TemporaryFolder.make()
    return folder
}

/// The program that was built beside the tests, nil where there is none.
var builtCordon: URL? {
    let folders = [Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0])]
    return folders.map { $0.deletingLastPathComponent().appending(path: "cordon") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}
