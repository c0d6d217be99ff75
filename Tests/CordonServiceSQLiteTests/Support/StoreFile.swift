import CordonTestSupport
import Foundation

/// A place for a store in a fresh folder, which is removed afterwards.
func withStoreFile<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = try TemporaryFolder.make()
    defer { TemporaryFolder.remove(folder) }
    return try await body(folder.appending(path: "service.sqlite"))
}

/// What Python's own SQLite, which is no part of Cordon, says about a store.
func python(_ script: String, _ file: URL) throws -> String {
    try Program.runPython([
        "-c", "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n" + script, file.path,
    ]).everything.trimmingCharacters(in: .whitespacesAndNewlines)
}
