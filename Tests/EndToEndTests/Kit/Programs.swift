import CordonDemo
import CordonTestSupport
import Foundation
import Testing

/// The programs under test, as the build left them beside this test bundle.
enum Programs {
    static let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    static var cordon: URL { folder.appending(path: "cordon") }
    static var fieldNotes: URL { folder.appending(path: "FieldNotes") }
    static var shiftBoard: URL { folder.appending(path: "ShiftBoard") }

    /// A stage in a folder of its own, struck when the work ends.
    static func onStage(
        app: URL? = nil, _ work: (DemoStage) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let stage = DemoStage(cordon: cordon, app: app ?? fieldNotes, folder: folder)
        do {
            try await work(stage)
        } catch {
            await stage.strike()
            throw error
        }
        await stage.strike()
    }
}
