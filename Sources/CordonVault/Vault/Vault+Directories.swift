public import CordonIdentity
public import Foundation

extension Vault {
    /// Where the app keeps what it can make again for the account; emptied by a wipe. Not made here.
    public nonisolated func cacheDirectory(for account: AccountID) -> URL {
        directory.appendingPathComponent("caches/\(account.fileName)")
    }

    /// Where the app keeps short-lived files of the account; emptied by a wipe. Not made here.
    public nonisolated func temporaryDirectory(for account: AccountID) -> URL {
        directory.appendingPathComponent("temporary/\(account.fileName)")
    }

    /// Everything below a directory, what lies deeper first; nothing when it does not exist.
    static func contents(of root: URL) -> [URL] {
        guard isDirectory(root), let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        else { return [] }
        return walk.compactMap { $0 as? URL }.reversed()
    }

    static func isDirectory(_ path: URL) -> Bool {
        let type = try? FileManager.default.attributesOfItem(atPath: path.path)[.type] as? FileAttributeType
        return type == .typeDirectory
    }

    static func bytesOnDisk(_ path: URL) -> Int64 {
        let size = try? FileManager.default.attributesOfItem(atPath: path.path)[.size] as? NSNumber
        return size?.int64Value ?? 0
    }
}
