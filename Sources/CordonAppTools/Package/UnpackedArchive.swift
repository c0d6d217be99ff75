import CordonBase
import CordonZlibShim
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A zip archive unpacked into a folder that only this user can look into.
struct UnpackedArchive: Sendable {
    let folder: URL
    private let archive: ZipArchive

    /// - Throws: ``AppToolsError`` for an archive that is damaged, unknown or harmful, `unwritable` when there is no room.
    init(
        _ data: Data, in place: URL, progress: (_ done: Int, _ of: Int) -> Void
    ) throws(AppToolsError) {
        archive = try ZipArchive(data)
        folder = place.resolvingSymlinksInPath().appendingPathComponent("cordon-\(UUID().uuidString)")
        guard mkdir(folder.path, 0o700) == 0 else {
            throw AppToolsError(.unwritable, "cannot be made", at: folder.path)
        }
        do {
            for entry in archive.entries { try makeFolder(for: entry) }
            // Links come last: a disk may take two names for one, and nothing is written through a link.
            let order = archive.entries.filter { $0.kind != .link } + archive.entries.filter { $0.kind == .link }
            for (done, entry) in order.enumerated() {
                try unpack(entry)
                progress(done + 1, order.count)
            }
            try checkLinks()
        } catch {
            remove()
            throw error
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The archive with what changed in the folder; nil when nothing did.
    func changedArchive() throws(AppToolsError) -> [Data]? {
        var writer = ZipWriter(archive)
        var isChanged = false
        for (entry, extent) in zip(archive.entries, archive.extents) {
            let place = url(of: entry)
            guard InputFile.entry(at: place) != nil else {
                isChanged = true
                continue
            }
            guard entry.kind == .file, let content = try changedContent(of: entry, at: place) else {
                try writer.keep(entry, extent)
                continue
            }
            try writer.replace(entry, with: content)
            isChanged = true
        }
        for name in newFiles() {
            try writer.add(name, try InputFile.map(folder.appendingPathComponent(name)), permissions: 0o644)
            isChanged = true
        }
        return isChanged ? try writer.finished() : nil
    }

    private func url(of entry: ZipArchive.Entry) -> URL { folder.appendingPathComponent(entry.path) }

    private func makeFolder(for entry: ZipArchive.Entry) throws(AppToolsError) {
        let place = url(of: entry)
        let parent = entry.kind == .folder ? place : place.deletingLastPathComponent()
        do { try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true) } catch {
            throw AppToolsError(.unwritable, "cannot be made", at: parent.path)
        }
    }

    private func unpack(_ entry: ZipArchive.Entry) throws(AppToolsError) {
        let place = url(of: entry)
        switch entry.kind {
        case .folder: break
        case .link:
            let target = try archive.text(of: entry, limit: 4096)
            guard symlink(target, place.path) == 0 else { throw unwritable(place) }
        case .file:
            let descriptor = open(place.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw unwritable(place) }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try archive.unpack(entry) { piece throws(AppToolsError) in
                do { try file.write(contentsOf: piece) } catch { throw unwritable(place) }
            }
            // The tools must be able to read and write whatever the archive says.
            guard fchmod(descriptor, mode_t(entry.permissions | 0o600)) == 0 else { throw unwritable(place) }
        }
    }

    private func unwritable(_ place: URL) -> AppToolsError {
        let number = errno
        // A disk may take less than the limits of an archive's names, and a link's target is none of these.
        if number == ENAMETOOLONG {
            return AppToolsError(
                .malformed, "the archive has a name that is longer than a disk takes",
                at: "\(place.lastPathComponent.prefix(80))")
        }
        return AppToolsError(.unwritable, "cannot be written: \(String(cString: strerror(number)))", at: place.path)
    }

    /// A link through another link may lead further than its own text says.
    private func checkLinks() throws(AppToolsError) {
        for entry in archive.entries where entry.kind == .link {
            guard let real = realpath(url(of: entry).path, nil) else { continue }
            defer { free(real) }
            guard String(cString: real).lies(below: folder.path) else {
                throw AppToolsError(.refused, "is a link that leaves the archive", at: entry.name)
            }
        }
    }

    /// The bytes of a file that are no longer those of the archive; nil for the same.
    private func changedContent(of entry: ZipArchive.Entry, at place: URL) throws(AppToolsError) -> Data? {
        let content = try InputFile.map(place)
        var sum: UInt32 = 0
        try content.forEachPiece { piece throws(AppToolsError) in
            sum = cordon_crc32(sum, piece.assumingMemoryBound(to: UInt8.self).baseAddress, piece.count)
        }
        return content.count == entry.size && sum == entry.checksum ? nil : content
    }

    /// The files that the archive does not have, ordered by name.
    private func newFiles() -> [String] {
        let known = Set(archive.entries.map(\.path))
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { name in
            let place = InputFile.kind(of: folder.appendingPathComponent(name))
            return !known.contains(name) && place.exists && !place.isFolder
        }.sorted()
    }
}
