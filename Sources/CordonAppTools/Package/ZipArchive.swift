import CordonBase
import CordonZlibShim
import Foundation

/// A zip archive, read and checked in full before any of it is used: what it does not know, it refuses.
///
/// Refused are names that lead out of the archive or come twice, links that leave it, encrypted and split archives,
/// packing other than deflate, entries that lie over each other, sizes beyond the limits, and all that a program reads
/// otherwise which unpacks without the directory at the end, as devices do.
struct ZipArchive {
    /// What an archive may hold at most (TL-GN-08).
    struct Limits {
        var entries = 200_000
        /// Folders, those included that are only in the names of others.
        var folders = 200_000
        /// Bytes of all entries, unpacked.
        var size = 8 << 30
    }

    struct Entry: Equatable {
        enum Kind: Equatable {
            case file, folder, link
        }

        /// As in the archive; a folder's ends in a slash.
        let name: String
        let kind: Kind
        /// The permission bits, or the usual ones where the archive was not made on Unix.
        let permissions: UInt16
        let isPacked: Bool
        let checksum: UInt32
        let packedSize: Int
        let size: Int
        /// Where its local header begins.
        let offset: Int
        /// Its record in the directory at the end.
        let record: Range<Int>

        /// The checksum, the size and the packed size.
        var numbers: [UInt64] { [UInt64(checksum), UInt64(size), UInt64(packedSize)] }

        /// The name, without the slash that a folder's ends in.
        var path: String {
            name.utf8.last == UInt8(ascii: "/") ? String(decoding: name.utf8.dropLast(), as: UTF8.self) : name
        }
    }

    /// Stands before the numbers that follow an entry's content.
    private static let descriptorMark: UInt32 = 0x0807_4B50

    let reader: ByteReader
    let entries: [Entry]
    /// Where each entry's bytes lie, its local header and descriptor included, in the order of `entries`.
    let extents: [Range<Int>]

    /// - Throws: ``AppToolsError`` `malformed` for a damaged archive, `unsupported` for a kind that is not known, and
    ///   `refused` for one that would do harm.
    init(_ data: Data, limits: Limits = Limits()) throws(AppToolsError) {
        reader = ByteReader(data)
        let directory = try ZipDirectory(reader)
        entries = try directory.entries(limits)
        extents = try Self.extents(of: entries, before: directory.start)
        try checkNames(limits)
        for (entry, extent) in zip(entries, extents) { try checkHeader(of: entry, extent) }
        try checkLinks()
        // Nothing else unpacks one, and what goes on behind its end may be an entry to a program that does.
        for entry in entries where entry.kind == .folder && entry.packedSize > 0 { try unpack(entry) { _ in } }
    }

    /// Where an entry's content lies, packed or not.
    func content(of entry: Entry) throws(AppToolsError) -> Data {
        let name = Int(try reader.little16(at: entry.offset + 26))
        let extra = Int(try reader.little16(at: entry.offset + 28))
        return try reader.data(at: entry.offset + 30 + name + extra, count: entry.packedSize)
    }

    /// Unpacks an entry piece by piece and checks its length and checksum.
    func unpack(
        _ entry: Entry, into write: (UnsafeRawBufferPointer) throws(AppToolsError) -> Void
    ) throws(AppToolsError) {
        var sum: UInt32 = 0
        var size = 0
        func take(_ piece: UnsafeRawBufferPointer) throws(AppToolsError) {
            guard piece.count <= entry.size - size else {
                throw AppToolsError(.malformed, "is longer than the archive says", at: entry.name)
            }
            size += piece.count
            sum = cordon_crc32(sum, piece.assumingMemoryBound(to: UInt8.self).baseAddress, piece.count)
            try write(piece)
        }
        let content = try content(of: entry)
        if entry.isPacked {
            try Inflation.unpack(content, named: entry.name, into: take)
        } else {
            try content.forEachPiece(take)
        }
        guard size == entry.size, sum == entry.checksum else {
            throw AppToolsError(.malformed, "does not have the archive's length and checksum", at: entry.name)
        }
    }

    /// The text of a link.
    func text(of entry: Entry, limit: Int) throws(AppToolsError) -> String {
        guard entry.size <= limit else { throw AppToolsError(.malformed, "is too long", at: entry.name) }
        var bytes: [UInt8] = []
        try unpack(entry) { piece throws(AppToolsError) in bytes += piece }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AppToolsError(.malformed, "is a link whose text is not UTF-8", at: entry.name)
        }
        return text
    }

    /// Entries lie one behind the other, so that no byte is unpacked twice.
    private static func extents(of entries: [Entry], before end: Int) throws(AppToolsError) -> [Range<Int>] {
        let order = entries.indices.sorted { entries[$0].offset < entries[$1].offset }
        guard order.first.map({ entries[$0].offset }) ?? end == 0 else {
            throw AppToolsError(.refused, "the archive begins with something that is no entry of it", hint: packAnew)
        }
        var extents = Array(repeating: 0..<0, count: entries.count)
        for (place, index) in order.enumerated() {
            let entry = entries[index]
            let next = place + 1 < order.count ? entries[order[place + 1]].offset : end
            let least = 30 + entry.name.utf8.count
            guard next - entry.offset >= least, next - entry.offset - least >= entry.packedSize else {
                throw AppToolsError(.refused, "entries lie over each other", at: entry.name)
            }
            extents[index] = entry.offset..<next
        }
        return extents
    }

    private func checkNames(_ limits: Limits) throws(AppToolsError) {
        var seen: Set<String> = []
        var folders: Set<Substring> = []
        let links = Set(entries.filter { $0.kind == .link }.map(\.path))
        let files = Set(entries.filter { $0.kind == .file }.map(\.path))
        for entry in entries {
            let steps = entry.path.pathSteps
            guard !entry.path.utf8.contains(UInt8(ascii: "\\")) else {
                throw AppToolsError(
                    .refused, "has a backslash in its name, which some systems take for a slash", at: entry.name,
                    hint: "pack the folder anew with a program that writes slashes")
            }
            guard !entry.path.isEmpty, !entry.path.utf8.contains(0),
                steps.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
            else { throw AppToolsError(.refused, "the archive has an entry that leads out of it", at: entry.name) }
            guard seen.insert(entry.path).inserted else {
                throw AppToolsError(.refused, "is in the archive twice", at: entry.name)
            }
            var folder = entry.path[...]
            // What is above a folder that was looked at was looked at too.
            while let end = folder.utf8.lastIndex(of: UInt8(ascii: "/")), folders.insert(folder[..<end]).inserted {
                folder = folder[..<end]
                guard !links.contains(String(folder)), !files.contains(String(folder)) else {
                    throw AppToolsError(.refused, "lies below \(folder), which is not a folder", at: entry.name)
                }
            }
            guard folders.count <= limits.folders else {
                throw AppToolsError(.refused, "the archive has more than \(limits.folders) folders")
            }
        }
    }

    private func checkHeader(of entry: Entry, _ extent: Range<Int>) throws(AppToolsError) {
        guard try reader.little32(at: entry.offset) == 0x0403_4B50 else {
            throw reader.failure("no entry begins here", at: entry.offset)
        }
        let length = Int(try reader.little16(at: entry.offset + 26))
        let extra = Int(try reader.little16(at: entry.offset + 28))
        guard try reader.data(at: entry.offset + 30, count: length).elementsEqual(entry.name.utf8) else {
            throw Self.refusal("has another name in its own header", entry)
        }
        guard try reader.little16(at: entry.offset + 8) == (entry.isPacked ? 8 : 0) else {
            throw Self.refusal("is packed otherwise in its own header", entry)
        }
        guard try reader.little16(at: entry.offset + 6) & ZipDirectory.unknownFlags == 0 else {
            throw AppToolsError(.refused, "is encrypted or patched in its own header", at: entry.name)
        }
        let fields = entry.offset + 30 + length
        let end = fields + extra + entry.packedSize
        guard end <= extent.upperBound else {
            throw AppToolsError(.refused, "entries lie over each other", at: entry.name)
        }
        // Programs that unpack while they receive know no other numbers; with the flag these may follow the content.
        let sizes = try ZipDirectory.numbers(
            reader, at: [22, 18].map { entry.offset + $0 }, extra: fields..<fields + extra)
        let stated = [UInt64(try reader.little32(at: entry.offset + 14))] + sizes
        let isLate = try reader.little16(at: entry.offset + 6) & 8 != 0
        guard zip(stated, entry.numbers).allSatisfy({ $0 == $1 || isLate && $0 == 0 }) else {
            throw Self.refusal("has another length or checksum in its own header", entry)
        }
        // With the flag such a program looks for the mark behind the content, also where the header states a length.
        if isLate, !entry.isPacked, Self.holdsMark(try content(of: entry)) {
            throw Self.refusal("holds what would end it for a program that does not go by its length", entry)
        }
        // It would take for an entry what else lies between two, and for these numbers what follows.
        guard isLate || end < extent.upperBound else { return }
        guard isLate, try numbers(behind: entry, in: end..<extent.upperBound) == entry.numbers else {
            throw Self.refusal("other bytes than its length and checksum lie behind it", entry)
        }
    }

    /// For an archive that nobody made to deceive.
    private static let packAnew = "unpack it and pack the folder anew, for example with zip -r -y"

    private static func refusal(_ reason: String, _ entry: Entry, line: UInt = #line) -> AppToolsError {
        AppToolsError(.refused, reason, at: entry.name, hint: packAnew, line: line)
    }

    /// Searches gigabytes at the speed of memory, which `Data.firstRange(of:)` does not.
    private static func holdsMark(_ content: Data) -> Bool {
        content.withUnsafeBytes { bytes in
            (0..<max(0, bytes.count - 3)).contains {
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)) == descriptorMark
            }
        }
    }

    /// The checksum and the sizes that follow an entry's content, behind a mark or without one; nil for anything else.
    /// Only packed content says itself where it ends, so that behind other content the mark has to stand.
    private func numbers(behind entry: Entry, in place: Range<Int>) throws(AppToolsError) -> [UInt64]? {
        guard (entry.isPacked ? [12, 16, 20, 24] : [16, 24]).contains(place.count) else { return nil }
        var start = place.lowerBound
        if place.count % 8 == 0 {
            guard try reader.little32(at: start) == Self.descriptorMark else { return nil }
            start += 4
        }
        let checksum = UInt64(try reader.little32(at: start))
        return place.count < 20
            ? [checksum, UInt64(try reader.little32(at: start + 8)), UInt64(try reader.little32(at: start + 4))]
            : [checksum, try reader.little64(at: start + 12), try reader.little64(at: start + 4)]
    }

    private func checkLinks() throws(AppToolsError) {
        for entry in entries where entry.kind == .link {
            let target = try text(of: entry, limit: 4096)
            guard !target.isEmpty, !target.utf8.contains(0), !entry.path.isLinkOut(to: target) else {
                throw AppToolsError(.refused, "is a link that leaves the archive", at: entry.name)
            }
        }
    }
}
