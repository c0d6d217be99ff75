import Foundation

/// The directory at the end of a zip archive, in its older and its 64-bit form.
struct ZipDirectory {
    /// Where it begins, and so where the entries end.
    let start: Int
    /// Where it ends.
    let end: Int
    let count: Int
    /// What follows it: the end records with the archive's comment.
    let comment: Data
    private let reader: ByteReader

    /// The most bytes of a path, so that it fits below the folder that it is unpacked to: systems take 1,024 or 4,096 with that.
    private static let longestPath = 900
    /// The most bytes of one step of it.
    private static let longestName = 255

    /// Encrypted, patched data, strongly encrypted, masked headers.
    static let unknownFlags: UInt16 = 0x2061

    private static let recordMark: UInt32 = 0x0201_4B50
    private static let endMark: UInt32 = 0x0605_4B50
    private static let end64Mark: UInt32 = 0x0606_4B50
    private static let locator64Mark: UInt32 = 0x0706_4B50

    init(_ reader: ByteReader) throws(AppToolsError) {
        self.reader = reader
        let place = try Self.endRecord(reader)
        guard try reader.little16(at: place + 4) == 0, try reader.little16(at: place + 6) == 0,
            try reader.little16(at: place + 8) == reader.little16(at: place + 10)
        else {
            throw AppToolsError(.unsupported, "the archive is split into several files")
        }
        var count = UInt64(try reader.little16(at: place + 10))
        var size = UInt64(try reader.little32(at: place + 12))
        var start = UInt64(try reader.little32(at: place + 16))
        var end = place
        if place >= 20, try reader.little32(at: place - 20) == Self.locator64Mark {
            let record = try reader.little64(at: place - 12)
            guard let offset = Int(exactly: record), offset <= place - 20 - 56,
                try reader.little32(at: offset) == Self.end64Mark
            else { throw reader.failure("the archive's 64-bit end record is not where it should be", at: place - 20) }
            guard try reader.little32(at: offset + 16) == 0, try reader.little32(at: offset + 20) == 0,
                try reader.little64(at: offset + 24) == reader.little64(at: offset + 32)
            else {
                throw AppToolsError(.unsupported, "the archive is split into several files")
            }
            let long = (
                count: try reader.little64(at: offset + 32), size: try reader.little64(at: offset + 40),
                start: try reader.little64(at: offset + 48)
            )
            // Programs differ in which of two they believe.
            guard [long.count, 0xFFFF].contains(count), [long.size, 0xFFFF_FFFF].contains(size),
                [long.start, 0xFFFF_FFFF].contains(start)
            else { throw AppToolsError(.refused, "the archive's two end records tell of different directories") }
            (count, size, start, end) = (long.count, long.size, long.start, offset)
        }
        guard let start = Int(exactly: start), let size = Int(exactly: size), let count = Int(exactly: count),
            start <= end, size == end - start, count <= size / 46
        else { throw reader.failure("the archive's directory does not fit the file", at: place) }
        self.start = start
        self.end = end
        self.count = count
        comment = try reader.data(at: place + 22, count: Int(try reader.little16(at: place + 20)))
    }

    /// The last record of an archive ends where the file does.
    private static func endRecord(_ reader: ByteReader) throws(AppToolsError) -> Int {
        guard reader.count >= 22 else { throw AppToolsError(.malformed, "is not a zip archive") }
        for place in stride(from: reader.count - 22, through: max(0, reader.count - 22 - 0xFFFF), by: -1) {
            let isMark = try reader.little32(at: place) == endMark
            if isMark, place + 22 + Int(try reader.little16(at: place + 20)) == reader.count { return place }
        }
        throw AppToolsError(.malformed, "is not a zip archive, or its end is missing")
    }

    func entries(_ limits: ZipArchive.Limits) throws(AppToolsError) -> [ZipArchive.Entry] {
        guard count <= limits.entries else {
            throw AppToolsError(.refused, "the archive has \(count) entries, more than \(limits.entries)")
        }
        var entries: [ZipArchive.Entry] = []
        var place = start
        var total = 0
        for _ in 0..<count {
            let entry = try entry(at: place)
            // Deflate packs a byte at best into a 1,032th.
            guard entry.size <= limits.size - total, entry.size / 1_033 <= entry.packedSize else {
                throw AppToolsError(.refused, "unpacks to more than is believable", at: entry.name)
            }
            total += entry.size
            entries.append(entry)
            place = entry.record.upperBound
        }
        guard place == end else { throw reader.failure("the archive's directory has something else in it", at: place) }
        return entries
    }

    private func entry(at place: Int) throws(AppToolsError) -> ZipArchive.Entry {
        guard try reader.little32(at: place) == Self.recordMark else {
            throw reader.failure("an entry of the archive's directory is missing", at: place)
        }
        let nameLength = Int(try reader.little16(at: place + 28))
        let extraLength = Int(try reader.little16(at: place + 30))
        let length = 46 + nameLength + extraLength + Int(try reader.little16(at: place + 32))
        guard length <= end - place else { throw reader.failure("an entry is cut off", at: place) }
        guard let name = String(validating: try reader.data(at: place + 46, count: nameLength), as: UTF8.self) else {
            throw reader.failure("a name is not UTF-8", at: place)
        }
        guard nameLength <= Self.longestPath,
            name.utf8.split(separator: UInt8(ascii: "/")).allSatisfy({ $0.count <= Self.longestName })
        else {
            throw AppToolsError(
                .malformed, "the archive has a name that is longer than a disk takes", at: "\(name.prefix(80))…")
        }
        let flags = try reader.little16(at: place + 8)
        let method = try reader.little16(at: place + 10)
        guard flags & Self.unknownFlags == 0, method == 0 || method == 8 else {
            throw AppToolsError(.unsupported, "is encrypted or packed in an unknown way", at: name)
        }
        let sizes = try Extra(reader, place, nameLength, extraLength)
        guard method == 8 || sizes.packed == sizes.size else {
            throw AppToolsError(.malformed, "is not packed and has two sizes", at: name)
        }
        let (kind, permissions) = try mode(of: name, at: place)
        guard kind != .folder || sizes.size == 0 else {
            throw AppToolsError(.malformed, "is a folder with content", at: name)
        }
        return ZipArchive.Entry(
            name: name, kind: kind, permissions: permissions, isPacked: method == 8,
            checksum: try reader.little32(at: place + 16), packedSize: sizes.packed, size: sizes.size,
            offset: sizes.offset, record: place..<place + length)
    }

    private func mode(of name: String, at place: Int) throws(AppToolsError) -> (ZipArchive.Entry.Kind, UInt16) {
        let isFolder = name.utf8.last == UInt8(ascii: "/")
        let usual: UInt16 = isFolder ? 0o755 : 0o644
        // Only Unix and macOS say what a file is.
        guard [3, 19].contains(try reader.byte(at: place + 5)) else { return (isFolder ? .folder : .file, usual) }
        let mode = UInt16(truncatingIfNeeded: try reader.little32(at: place + 38) >> 16)
        let permissions = mode & 0o777 == 0 ? usual : mode & 0o777
        switch (mode & 0o170000, isFolder) {
        case (0, _), (0o100000, false), (0o040000, true): return (isFolder ? .folder : .file, permissions)
        case (0o120000, false): return (.link, permissions)
        default: throw AppToolsError(.unsupported, "is neither a file, a folder nor a link", at: name)
        }
    }

    /// The sizes and the place of an entry.
    private struct Extra {
        let packed: Int
        let size: Int
        let offset: Int

        init(_ reader: ByteReader, _ place: Int, _ nameLength: Int, _ extraLength: Int) throws(AppToolsError) {
            let extra = place + 46 + nameLength
            let values = try ZipDirectory.numbers(
                reader, at: [24, 20, 42].map { place + $0 }, extra: extra..<extra + extraLength)
            guard let size = Int(exactly: values[0]), let packed = Int(exactly: values[1]),
                let offset = Int(exactly: values[2]), packed <= reader.count, offset <= reader.count
            else { throw reader.failure("an entry lies outside the archive", at: place) }
            (self.size, self.packed, self.offset) = (size, packed, offset)
        }
    }

    /// Numbers of an entry, in the order in which those stand in an extra field for which 32 bits are too few.
    static func numbers(_ reader: ByteReader, at short: [Int], extra: Range<Int>) throws(AppToolsError) -> [UInt64] {
        var values: [UInt64] = []
        var field = extra.lowerBound
        var long: (at: Int, end: Int)?
        while extra.upperBound - field >= 4 {
            let size = Int(try reader.little16(at: field + 2))
            guard size <= extra.upperBound - field - 4 else { break }
            if try reader.little16(at: field) == 1 { long = (field + 4, field + 4 + size) }
            field += 4 + size
        }
        for offset in short {
            let value = try reader.little32(at: offset)
            guard value == .max else {
                values.append(UInt64(value))
                continue
            }
            guard let at = long?.at, let end = long?.end, end - at >= 8 else {
                throw reader.failure("a 64-bit size is missing", at: offset)
            }
            values.append(try reader.little64(at: at))
            long?.at += 8
        }
        return values
    }
}
