internal import CordonBase
internal import CordonSignIn
internal import Foundation

/// One small file that is either wholly old or wholly new, whatever instant the process dies at.
///
/// Written beside its place under a name of its own, since several processes may write at once, synced, renamed, and the
/// folder synced; mode 0600.
struct StateFile: Sendable {
    let url: URL

    /// The bytes, nil when there is no such file.
    func read() throws(ProtectionError) -> Data? {
        // Most files are missing at most starts, and Foundation's way of saying so is expensive.
        if access(url.path, F_OK) != 0, errno == ENOENT { return nil }
        do {
            return try Data(contentsOf: url)
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            throw ProtectionError(.stateUnreadable, "\(url.lastPathComponent) cannot be read")
        }
    }

    /// Replaces the contents; when this returns they survive a crash of the machine.
    func write(_ bytes: Data) throws(ProtectionError) {
        let draft = url.appendingPathExtension(UUID().uuidString + Self.draftSuffix)
        do { try DurableFile.replace(url, with: bytes, by: draft) } catch { throw unwritable }
    }

    /// Removes the file with every copy of it: what was set aside, and drafts that a crash left beside it. A missing file is no error.
    func remove() throws(ProtectionError) {
        let folder = url.deletingLastPathComponent()
        let own = url.lastPathComponent
        let drafts = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasPrefix(own + ".") && $0.hasSuffix(Self.draftSuffix) }
        do {
            for name in [own, own + Self.damagedSuffix] + drafts {
                try DurableFile.remove(folder.appending(path: name))
            }
            try DurableFile.synchronize(folder)
        } catch { throw unwritable }
    }

    /// Renames a damaged file, so that it can be inspected; nothing reads it again.
    func setAside() {
        _ = rename(url.path, url.path + Self.damagedSuffix)
    }

    private static let draftSuffix = ".new"
    private static let damagedSuffix = ".damaged"

    private var unwritable: ProtectionError {
        ProtectionError(.stateUnwritable, "\(url.lastPathComponent) cannot be written")
    }
}
