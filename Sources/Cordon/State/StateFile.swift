internal import CordonBase
internal import CordonSignIn
internal import Foundation

/// One small file that is either wholly old or wholly new, whatever instant the process dies at.
///
/// Written beside its place under a name of its own, since several processes may write at once, synced, renamed, and the
/// folder synced; mode 0600.
struct StateFile: Sendable {
    let url: URL

    /// No record is as long; the service's largest answer, which a registration holds, is 4 MiB.
    private static let longest = 32 << 20

    /// The bytes, nil when there is no such file. What cannot be a state file, such as a pipe, a folder or a file without end in its place,
    /// has none, which is no record of any kind.
    func read(atMost limit: Int = StateFile.longest) throws(ProtectionError) -> Data? {
        do { return try DurableFile.read(url, limit: limit) } catch {
            guard Self.isNone(error) else {
                throw ProtectionError(.stateUnreadable, "\(url.lastPathComponent) cannot be read")
            }
            return Data()
        }
    }

    /// Whether a failure says that what is there cannot be a state file.
    static func isNone(_ failure: FileFailure) -> Bool { [EINVAL, EFBIG, ELOOP, ENXIO].contains(failure.number) }

    /// Replaces the contents; when this returns they survive a crash of the machine.
    func write(_ bytes: Data) throws(ProtectionError) {
        let draft = url.appendingPathExtension(UUID().uuidString + Self.draftSuffix)
        do { try DurableFile.replace(url, with: bytes, by: draft) } catch { throw unwritable(error) }
    }

    /// Removes the file with every copy of it: what was set aside, and drafts that a crash left beside it. A missing file is no error.
    func remove() throws(ProtectionError) {
        let folder = url.deletingLastPathComponent()
        let own = url.lastPathComponent
        let drafts = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasPrefix(own + ".") && $0.hasSuffix(Self.draftSuffix) }
        do {
            for name in [own, own + Self.damagedSuffix] + drafts {
                try Self.remove(folder.appending(path: name))
            }
            try DurableFile.synchronize(folder)
        } catch { throw unwritable(error) }
    }

    /// Renames a damaged file, so that it can be inspected; nothing reads it again.
    func setAside() {
        _ = rename(url.path, url.path + Self.damagedSuffix)
    }

    /// Puts a damaged file aside, unless another process has replaced it with a sound one meanwhile: a writer holds the lock. Without the lock it
    /// stays.
    ///
    /// - Parameter isSound: Looks at the file once more.
    /// - Returns: What that said; false without the lock, and where the file cannot be looked at.
    func setAside(under lock: URL, unless isSound: () throws(ProtectionError) -> Bool) -> Bool {
        let wasSound = try? StateLock.exclusively(lock) { () throws(ProtectionError) in
            if try isSound() { return true }
            setAside()
            return false
        }
        return wasSound ?? false
    }

    /// Deletes what is at a place, also a folder.
    private static func remove(_ place: URL) throws(FileFailure) {
        do { try DurableFile.remove(place) } catch {
            guard [EISDIR, EPERM].contains(error.number), (try? FileManager.default.removeItem(at: place)) != nil else {
                throw error
            }
        }
    }

    static let draftSuffix = ".new"
    private static let damagedSuffix = ".damaged"

    /// Whether an error of the system says that there is no room; beyond the size that this process's files may have there is none either.
    static func isDiskFull(_ number: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(number) }

    private func unwritable(_ failure: FileFailure) -> ProtectionError {
        ProtectionError(
            unwritable: "\(url.lastPathComponent) cannot be written", isDiskFull: Self.isDiskFull(failure.number))
    }
}
