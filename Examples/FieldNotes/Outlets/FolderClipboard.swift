import Cordon
import CordonIdentity
import Foundation

/// A clipboard in a folder, so that several processes share one; the system's clipboard on a real device.
struct FolderClipboard: Clipboard {
    let folder: URL

    func write(_ item: ClipboardItem) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(item).write(to: file, options: .atomic)
    }

    func read() async throws -> ClipboardItem? {
        guard file.isRegularFile else { return nil }
        return try JSONDecoder().decode(ClipboardItem.self, from: Data(contentsOf: file))
    }

    /// Removes what was copied from an account's notes, which names the account; says whether there was any.
    func clear(of account: AccountID) async throws -> Bool {
        do {
            guard try await read()?.owner == account else { return false }
            try FileManager.default.removeItem(at: file)
            return true
        } catch is DecodingError {
            // Another program's.
            return false
        }
    }

    private var file: URL { folder.appending(path: "clipboard.json") }
}
