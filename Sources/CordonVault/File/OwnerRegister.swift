internal import CordonBase
internal import CordonIdentity
internal import Crypto
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Which account owns files that are not sealed: a small file per path in the vault's directory. A sealed file names its
/// owner itself and needs no entry.
///
/// A note is its JSON, a line feed, and a message code of the JSON under a key of the device: a wipe removes what a note names, wherever it
/// is, so a process without that key must not be able to name a file. Earlier software left notes without a code. Those that a vault has are
/// given one when it is first opened by this version; later ones count only for what lies in the vault's own directories.
struct OwnerRegister: Sendable {
    let directory: URL
    let secrets: AccountSecrets
    /// Where every file is the vault's own, so that a note without a code may name it.
    let places: [URL]

    private struct Entry: Codable {
        let path: String
        let owner: AccountID
    }

    /// Notes the owner of a path; nil forgets it. Durable when this returns, but for a draft that is forgotten: its name comes to no other file.
    func setOwner(_ owner: AccountID?, of path: URL) throws(VaultError) {
        guard let owner else { return try forget(path, durably: !path.isUnfinished) }
        let places = places(of: path)
        try PosixFile.makeDirectory(directory.path, following: false)
        try PosixFile.replace(places.present, with: try entry(owner, path.inRealFolder.path))
        if let former = places.former { try PosixFile.unlinkIfPresent(former) }
    }

    /// Forgets the owners of files that are gone.
    func forget(_ paths: [URL]) {
        for path in paths { try? forget(path, durably: false) }
        if !paths.isEmpty { try? PosixFile.syncDirectory(directory.path) }
    }

    private func forget(_ path: URL, durably: Bool) throws(VaultError) {
        let places = places(of: path)
        try Self.remove([places.present] + (places.former.map { [$0] } ?? []), durably: durably)
    }

    /// Removes notes. One that a power cut brings back would have a wipe remove a file that is nobody's any more.
    fileprivate static func remove(_ notes: [String], durably: Bool = true) throws(VaultError) {
        let isThere = notes.contains { !PosixFile.isAbsent($0) }
        for note in notes { try PosixFile.unlinkIfPresent(note) }
        guard isThere, durably, let note = notes.first else { return }
        try PosixFile.syncDirectory((note as NSString).deletingLastPathComponent)
    }

    /// Notes the owner of a draft that is about to be made, and keeps a start of another process from removing either, until what is returned is
    /// closed.
    ///
    /// - Throws: ``VaultError``; `inUse` where starts come again and again.
    func hold(_ owner: AccountID, for draft: URL) throws(VaultError) -> PosixFile {
        let place = places(of: draft).present
        try setOwner(owner, of: draft)
        for _ in 0..<1000 {
            do {
                if let note = try PosixFile.openLocked(place, writing: false) { return note }
                // A start that came in between has found no draft, and removed the note.
                try setOwner(owner, of: draft)
            } catch {
                // A start looks at the note, and removes what has its name by then: no other note may take it meanwhile.
                guard error.code == .inUse else { throw error }
                usleep(1000)
            }
        }
        throw VaultError(.inUse, "The note of a draft is removed again and again.", place: draft.path)
    }

    /// Readies the change of a path's owner that goes with a change of its file, so that the file has one or the other
    /// owner at any moment, and the former one after a failure.
    func ready(_ owner: AccountID?, for path: URL) throws(VaultError) -> OwnerChange {
        let (place, former) = places(of: path)
        switch (try self.owner(of: path), owner) {
        case (let old, let new) where old == new: return .none
        case (_, nil): return .leaving([place] + (former.map { [$0] } ?? []))
        case (nil, _):
            do {
                try setOwner(owner, of: path)
            } catch {
                PosixFile.remove(place)
                throw error
            }
            return .coming(place)
        case (_, let owner?):
            let draft = try PosixFile.draft(of: place, try entry(owner, path.inRealFolder.path))
            return .changing(draft: draft, place, former: former)
        }
    }

    /// The owner noted for a path.
    ///
    /// - Throws: ``VaultError`` for a note that cannot be read: that is not the same as none.
    func owner(of path: URL) throws(VaultError) -> AccountID? {
        let places = places(of: path)
        if let present = try read(places.present) { return present.owner }
        guard let former = places.former else { return nil }
        return try read(former)?.owner
    }

    /// Every noted path of an account, also of files that are gone, but none for which another note counts; and why a note could not be read,
    /// if one could not: it may be one of the account's.
    func notes(of owner: AccountID) -> (paths: [URL], unread: VaultError?) {
        var paths: [URL] = []
        var unread: VaultError?
        do {
            for name in try PosixFile.names(in: directory.path).sorted() where name.hasSuffix(Self.suffix) {
                do {
                    let place = directory.appendingPathComponent(name).path
                    guard let entry = try read(place), entry.owner == owner else { continue }
                    let path = URL(fileURLWithPath: entry.path)
                    let present = places(of: path).present
                    // One of earlier software says nothing of a file that has been given to another owner since.
                    if present != place, try read(present) != nil { continue }
                    paths.append(path)
                } catch { unread = unread ?? error }
            }
        } catch { unread = error }
        return (paths, unread)
    }

    /// Removes what kills have left of writing an account's notes.
    func removeDrafts(of owner: AccountID) throws(VaultError) {
        var failure: VaultError?
        for name in try PosixFile.names(in: directory.path) where name.hasSuffix(PosixFile.draftSuffix) {
            let place = directory.appendingPathComponent(name).path
            do {
                // Whoever wrote it: it names the account, and counts for nothing.
                guard let bytes = try PosixFile.contents(place, limit: Self.longest),
                    try Self.parse(bytes, secrets)?.entry.owner == owner
                else { continue }
                try PosixFile.unlinkIfPresent(place)
            } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private func read(_ place: String) throws(VaultError) -> Entry? {
        guard let bytes = try PosixFile.contents(place, limit: Self.longest) else { return nil }
        guard let (entry, isCoded) = try Self.parse(bytes, secrets), isCoded || isOwn(entry.path) else {
            throw VaultError(.damaged, "The note of a file's owner is damaged.", place: place)
        }
        return entry
    }

    private static func parse(
        _ bytes: [UInt8], _ secrets: AccountSecrets
    ) throws(VaultError) -> (entry: Entry, isCoded: Bool)? {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        // Any other path leads to another file than it says: of the working directory, or of a shorter name.
        guard let text = parts.first, let entry = try? JSONDecoder().decode(Entry.self, from: Data(text)),
            entry.path.utf8.first == UInt8(ascii: "/"), !entry.path.utf8.contains(0)
        else { return nil }
        let code = try secrets.code(ofNote: Array(text))
        return (entry, parts.count == 2 && parts[1].elementsEqual(code.utf8))
    }

    private static let longest = 1 << 16

    /// Whether a path leads into the vault's own directories, and no link leads out of them.
    private func isOwn(_ path: String) -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().resolvingSymlinksInPath().path + "/"
        return places.contains { folder.hasPrefix($0.resolvingSymlinksInPath().path + "/") }
    }

    /// Gives the notes that earlier software has left a code, and the name that they have now, once; a folder that comes later, and what is put into
    /// it, is not trusted so far.
    ///
    /// - Parameter vault: Tells this vault from others of its name.
    /// - Throws: ``VaultError`` where a link stands in the folder's place, the key store refuses, or a note cannot be written.
    func takeOver(of vault: String) throws(VaultError) {
        guard !PosixFile.isLink(directory.path) else {
            throw VaultError(.inputOutput, "A symbolic link is in the directory's place.", place: directory.path)
        }
        if try !secrets.arePlainNotesRetired(of: vault) {
            try exclusively { () throws(VaultError) in try takeOverPlain(of: vault) }
        }
        guard try !secrets.areLinkedNotesRetired(of: vault) else { return }
        do {
            try exclusively { () throws(VaultError) in try takeOverLinked(of: vault) }
        } catch { return }
    }

    /// Runs the body while no other process takes over this vault's notes. Another one may have finished since the caller looked: its app may
    /// have changed a note since, and an attacker may have added one without a code. So the body checks the mark again.
    private func exclusively(_ body: () throws(VaultError) -> Void) throws(VaultError) {
        // Nothing is there to be taken over.
        if PosixFile.isAbsent(directory.path) { return try body() }
        try AdvisoryLock.exclusively(
            inFolder: directory,
            or: {
                VaultError(.inputOutput, "The notes cannot be locked (errno \($0.number)).", place: directory.path)
            }, body)
    }

    private func takeOverPlain(of vault: String) throws(VaultError) {
        guard try !secrets.arePlainNotesRetired(of: vault) else { return }
        for name in try PosixFile.names(in: directory.path) where name.hasSuffix(Self.suffix) {
            let place = directory.appendingPathComponent(name).path
            // One that cannot be read stays, and a wipe says so.
            guard let bytes = (try? PosixFile.contents(place, limit: Self.longest)) ?? nil,
                let (entry, isCoded) = try Self.parse(bytes, secrets), !isCoded
            else { continue }
            let path = URL(fileURLWithPath: entry.path).standardizedFileURL.path
            try PosixFile.replace(place, with: try self.entry(entry.owner, path))
        }
        try secrets.retirePlainNotes(of: vault)
    }

    /// Gives the notes that earlier software has named by a path through a link the names that they have now: by the path without links nothing else
    /// would find them when their file is given up. One whose file has another note says nothing. On a disk that takes no note they stay, as they
    /// do where the key store takes no mark, and the next start tries again: a full disk must keep no vault from opening, which may have to wipe.
    private func takeOverLinked(of vault: String) throws(VaultError) {
        guard try !secrets.areLinkedNotesRetired(of: vault) else { return }
        for name in try PosixFile.names(in: directory.path) where name.hasSuffix(Self.suffix) {
            let place = directory.appendingPathComponent(name).path
            // One without a code is not given one here, and the note of a draft goes with its draft.
            guard let bytes = (try? PosixFile.contents(place, limit: Self.longest)) ?? nil,
                let (entry, isCoded) = try Self.parse(bytes, secrets), isCoded
            else { continue }
            let path = URL(fileURLWithPath: entry.path)
            let places = places(of: path)
            guard places.former == place, !path.isUnfinished else { continue }
            if PosixFile.isAbsent(places.present) {
                try setOwner(entry.owner, of: path)
            } else if (try? read(places.present)) != nil {
                try PosixFile.unlinkIfPresent(place)
            }
        }
        try secrets.retireLinkedNotes(of: vault)
    }

    private func entry(_ owner: AccountID, _ path: String) throws(VaultError) -> [UInt8] {
        guard let bytes = try? JSONEncoder().encode(Entry(path: path, owner: owner)) else {
            throw VaultError(.inputOutput, "An owner cannot be noted.", place: path)
        }
        return Array(bytes) + [UInt8(ascii: "\n")] + Array(try secrets.code(ofNote: Array(bytes)).utf8)
    }

    /// Removes readable files that were left unfinished, with their notes. Of one that is being written, the file or the note is locked.
    func removeUnfinished() {
        let names = (try? PosixFile.names(in: directory.path)) ?? []
        for name in names where name.hasPrefix(Self.unfinished) && name.hasSuffix(Self.suffix) {
            let place = directory.appendingPathComponent(name).path
            guard let note = try? PosixFile.openLocked(place, writing: false) else { continue }
            defer { note.close() }
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
    private static let suffix = ".json"

    /// Where the note of a path stands, whichever way leads to its folder; and where one may stand that earlier software has made, nil where that is
    /// the same.
    private func places(of path: URL) -> (present: String, former: String?) {
        let (present, former) = (place(of: path.inRealFolder), place(of: path.standardizedFileURL))
        return (present, former == present ? nil : former)
    }

    private func place(of path: URL) -> String {
        let name = Array(SHA256.hash(data: Data(path.path.utf8))).prefix(16).hex
        return directory.appendingPathComponent((path.isUnfinished ? Self.unfinished : "") + name + Self.suffix).path
    }
}

extension URL {
    /// The path with its folder as it is without symbolic links.
    fileprivate var inRealFolder: URL {
        let path = standardizedFileURL
        return path.deletingLastPathComponent().resolvingSymlinksInPath().appendingPathComponent(
            path.lastPathComponent, isDirectory: false)
    }

    /// Whether the name is one of ``PosixFile/temporaryName()``.
    fileprivate var isUnfinished: Bool { lastPathComponent.hasPrefix(".cordon-") }
}

/// A path's change of owner around a change of its file: readied before, then settled or undone.
enum OwnerChange {
    /// The owner stays.
    case none
    /// The note is there already.
    case coming(String)
    /// The notes are still there.
    case leaving([String])
    /// The new note waits as a draft, which takes no more space to put in place; there may be another of earlier software.
    case changing(draft: String, String, former: String?)

    /// Whether a note goes: not before the change of its file is durable, or a power cut leaves a file of the account's without one.
    var isLeaving: Bool { if case .leaving = self { true } else { false } }

    /// Puts the owner in force, after the file has changed.
    func commit() throws(VaultError) {
        switch self {
        case .none, .coming: break
        case .leaving(let places): try OwnerRegister.remove(places)
        case .changing(let draft, let place, let former):
            do {
                try PosixFile.rename(draft, to: place)
                if let former { try PosixFile.unlinkIfPresent(former) }
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
        case .changing(let draft, _, _): PosixFile.remove(draft)
        }
    }
}
