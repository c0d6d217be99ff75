internal import CordonIdentity
internal import Crypto
internal import Foundation

/// Which account owns files that are not sealed: a small file per path in the vault's directory. A sealed file names its
/// owner itself and needs no entry.
struct OwnerRegister: Sendable {
    let directory: URL

    private struct Entry: Codable {
        let path: String
        let owner: AccountID
    }

    /// Notes the owner of a path; nil forgets it.
    func setOwner(_ owner: AccountID?, of path: URL) throws(VaultError) {
        let place = entryPath(path)
        guard let owner else { return try PosixFile.unlinkIfPresent(place) }
        try PosixFile.makeDirectory(directory.path)
        try PosixFile.replace(place, with: try entry(owner, path))
    }

    /// Readies the change of a path's owner that goes with a change of its file, so that the file has one or the other
    /// owner at any moment, and the former one after a failure.
    func ready(_ owner: AccountID?, for path: URL) throws(VaultError) -> OwnerChange {
        let place = entryPath(path)
        switch (try self.owner(of: path), owner) {
        case (let old, let new) where old == new: return .none
        case (_, nil): return .leaving(place)
        case (nil, _):
            do {
                try setOwner(owner, of: path)
            } catch {
                PosixFile.remove(place)
                throw error
            }
            return .coming(place)
        case (_, let owner?):
            return .changing(draft: try PosixFile.draft(of: place, try entry(owner, path)), place)
        }
    }

    /// The owner noted for a path.
    ///
    /// - Throws: ``VaultError`` for a note that cannot be read: that is not the same as none.
    func owner(of path: URL) throws(VaultError) -> AccountID? {
        try read(entryPath(path)).map(\.owner)
    }

    /// Every noted path of an account, also of files that are gone; and why a note could not be read, if one could not:
    /// it may be one of the account's.
    func notes(of owner: AccountID) -> (paths: [URL], unread: VaultError?) {
        var paths: [URL] = []
        var unread: VaultError?
        do {
            for name in try PosixFile.names(in: directory.path).sorted() where name.hasSuffix(".json") {
                do {
                    let entry = try read(directory.appendingPathComponent(name).path)
                    if let entry, entry.owner == owner { paths.append(URL(fileURLWithPath: entry.path)) }
                } catch { unread = unread ?? error }
            }
        } catch { unread = error }
        return (paths, unread)
    }

    private func read(_ place: String) throws(VaultError) -> Entry? {
        guard let bytes = try PosixFile.contents(place, limit: 1 << 16) else { return nil }
        guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(bytes)) else {
            throw VaultError(.damaged, "The note of a file's owner is damaged.", place: place)
        }
        return entry
    }

    private func entry(_ owner: AccountID, _ path: URL) throws(VaultError) -> [UInt8] {
        let entry = Entry(path: path.standardizedFileURL.path, owner: owner)
        guard let bytes = try? JSONEncoder().encode(entry) else {
            throw VaultError(.inputOutput, "An owner cannot be noted.", place: path.path)
        }
        return Array(bytes)
    }

    /// Removes readable files that were left unfinished, with their notes. One that is being written is locked.
    func removeUnfinished() {
        let names = (try? PosixFile.names(in: directory.path)) ?? []
        for name in names where name.hasPrefix(Self.unfinished) {
            let place = directory.appendingPathComponent(name).path
            guard let entry = try? read(place), URL(fileURLWithPath: entry.path).isUnfinished else { continue }
            guard let lock = try? PosixFile.openLocked(entry.path, writing: false) else {
                if PosixFile.isAbsent(entry.path) { PosixFile.remove(place) }
                continue
            }
            if PosixFile.remove(entry.path) { PosixFile.remove(place) }
            lock.close()
        }
    }

    private static let unfinished = "unfinished-"

    private func entryPath(_ path: URL) -> String {
        let name = Array(SHA256.hash(data: Data(path.standardizedFileURL.path.utf8))).prefix(16).hex
        return directory.appendingPathComponent((path.isUnfinished ? Self.unfinished : "") + name + ".json").path
    }
}

extension URL {
    /// Whether the name is one of ``PosixFile/temporaryName()``.
    fileprivate var isUnfinished: Bool { lastPathComponent.hasPrefix(".cordon-") }
}

/// A path's change of owner around a change of its file: readied before, then settled or undone.
enum OwnerChange {
    /// The owner stays.
    case none
    /// The note is there already.
    case coming(String)
    /// The note is still there.
    case leaving(String)
    /// The new note waits as a draft, which takes no more space to put in place.
    case changing(draft: String, String)

    /// Puts the owner in force, after the file has changed.
    func commit() throws(VaultError) {
        switch self {
        case .none, .coming: break
        case .leaving(let place): try PosixFile.unlinkIfPresent(place)
        case .changing(let draft, let place):
            do {
                try PosixFile.rename(draft, to: place)
                try PosixFile.syncDirectory((place as NSString).deletingLastPathComponent)
            } catch {
                PosixFile.remove(draft)
                throw error
            }
        }
    }

    /// Leaves the owner as it was, after the file could not be changed.
    func undo() {
        switch self {
        case .none, .leaving: break
        case .coming(let place): PosixFile.remove(place)
        case .changing(let draft, _): PosixFile.remove(draft)
        }
    }
}
