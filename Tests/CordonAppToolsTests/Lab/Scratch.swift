import CordonTestSupport
import Foundation

/// A fresh folder for one test, removed afterwards.
final class Scratch {
    let folder: URL

    init() throws {
        folder = try TemporaryFolder.make()
    }

    deinit { TemporaryFolder.remove(folder) }

    func file(_ name: String, _ content: Data) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: url)
        return url
    }

    func file(_ name: String, _ text: String) throws -> URL { try file(name, Data(text.utf8)) }
}
