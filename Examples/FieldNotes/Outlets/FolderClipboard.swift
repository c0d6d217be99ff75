import Cordon
import Foundation

/// A clipboard in a folder, so that several processes share one; the system's clipboard on a real device.
struct FolderClipboard: Clipboard {
    let folder: URL

    func write(_ item: ClipboardItem) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(item).write(to: file, options: .atomic)
    }

    func read() async throws -> ClipboardItem? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try JSONDecoder().decode(ClipboardItem.self, from: Data(contentsOf: file))
    }

    private var file: URL { folder.appending(path: "clipboard.json") }
}
