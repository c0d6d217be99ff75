internal import Foundation

/// One small file that is either wholly old or wholly new, whatever instant the process dies at.
///
/// Written beside its place under a name of its own, since several processes may write at once, synced, renamed, and the
/// folder synced; mode 0600.
struct StateFile: Sendable {
    let url: URL

    /// The bytes, nil when there is no such file.
    func read() throws(ProtectionError) -> Data? {
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
        let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw unwritable }
        let complete = bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = Foundation.write(
                    descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                if count < 0 && errno != EINTR { return false }
                offset += max(count, 0)
            }
            return fsync(descriptor) == 0
        }
        close(descriptor)
        guard complete, rename(draft.path, url.path) == 0 else {
            unlink(draft.path)
            throw unwritable
        }
        try syncFolder()
    }

    /// Removes the file with everything that says the same: what was put aside, and what a crash kept from taking the
    /// file's place. A missing file is no error.
    func remove() throws(ProtectionError) {
        let folder = url.deletingLastPathComponent()
        let own = url.lastPathComponent
        let drafts = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasPrefix(own + ".") && $0.hasSuffix(Self.draftSuffix) }
        for name in [own, own + Self.damagedSuffix] + drafts {
            guard unlink(folder.appending(path: name).path) == 0 || errno == ENOENT else { throw unwritable }
        }
        try syncFolder()
    }

    /// Puts a damaged file away under another name, where it can be looked at; nothing reads it again.
    func setAside() {
        _ = rename(url.path, url.path + Self.damagedSuffix)
    }

    private static let draftSuffix = ".new"
    private static let damagedSuffix = ".damaged"

    private func syncFolder() throws(ProtectionError) {
        let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw unwritable }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw unwritable }
    }

    private var unwritable: ProtectionError {
        ProtectionError(.stateUnwritable, "\(url.lastPathComponent) cannot be written")
    }
}
