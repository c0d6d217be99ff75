import CordonZlibShim
import Foundation

/// Writes an archive anew: entries that did not change keep their very bytes, times and order, changed ones their
/// names and permissions, new ones follow at the end.
struct ZipWriter {
    private let archive: ZipArchive
    private var pieces: [Data] = []
    private var position = 0
    private var records: [Data] = []

    /// More than this is stored as it is, since zlib takes no more at once.
    private static let mostPacked = 1 << 30

    init(_ archive: ZipArchive) {
        self.archive = archive
    }

    /// Takes an entry over as it is.
    mutating func keep(_ entry: ZipArchive.Entry, _ extent: Range<Int>) throws(AppToolsError) {
        let reader = archive.reader
        let offset = position
        write(try reader.data(at: extent.lowerBound, count: extent.count))
        let record = try reader.data(at: entry.record.lowerBound, count: entry.record.count)
        let isNear = try reader.little32(at: entry.record.lowerBound + 42) != .max
        guard isNear, let place = UInt32(exactly: offset), place != .max else {
            return records.append(Self.farRecord(entry, record, at: offset))
        }
        records.append(Data(record.prefix(42) + place.littleBytes + record.dropFirst(46)))
    }

    /// Writes an entry with other content under the name and permissions that it had.
    mutating func replace(_ entry: ZipArchive.Entry, with content: Data) throws(AppToolsError) {
        let attributes = try archive.reader.data(at: entry.record.lowerBound + 36, count: 6)
        let maker = try archive.reader.data(at: entry.record.lowerBound + 4, count: 2)
        let time = try archive.reader.data(at: entry.record.lowerBound + 12, count: 4)
        try add(
            entry.name, content, isPacked: entry.isPacked,
            head: Head(maker: maker, time: time, attributes: attributes))
    }

    /// Adds a regular file.
    mutating func add(_ name: String, _ content: Data, permissions: UInt16) throws(AppToolsError) {
        let mode = UInt32(0o100000 | permissions) << 16
        // The first day that the format knows: an archive made twice is the same.
        let head = Head(
            maker: Data([30, 3]), time: Data([0, 0, 0x21, 0]), attributes: Data([0, 0]) + mode.littleBytes)
        try add(name, content, isPacked: true, head: head)
    }

    /// The whole archive in pieces: after the entries comes the directory.
    consuming func finished() throws(AppToolsError) -> [Data] {
        let start = position
        for record in records { write(record) }
        let size = position - start
        let comment = try ZipDirectory(archive.reader).comment
        let isLong = records.count >= 0xFFFF || UInt32(exactly: start).map { $0 == .max } ?? true
        if isLong {
            let end = position
            write(
                UInt32(0x0606_4B50).littleBytes + UInt64(44).littleBytes + Data([45, 3, 45, 0]) + Data(count: 8)
                    + UInt64(records.count).littleBytes + UInt64(records.count).littleBytes + UInt64(size).littleBytes
                    + UInt64(start).littleBytes)
            write(
                UInt32(0x0706_4B50).littleBytes + Data(count: 4) + UInt64(end).littleBytes + UInt32(1).littleBytes)
        }
        let count = UInt16(clamping: records.count).littleBytes
        write(
            UInt32(0x0605_4B50).littleBytes + Data(count: 4) + count + count
                + (isLong ? UInt32.max : UInt32(clamping: size)).littleBytes
                + (isLong ? UInt32.max : UInt32(clamping: start)).littleBytes
                + UInt16(clamping: comment.count).littleBytes + comment)
        return pieces
    }

    /// What a local header and a record of the directory have in common.
    private struct Head {
        let maker: Data
        let time: Data
        /// Those inside, two bytes, and those of the file system, four.
        let attributes: Data
    }

    private mutating func add(
        _ name: String, _ content: Data, isPacked: Bool, head: Head
    ) throws(AppToolsError) {
        var sum: UInt32 = 0
        try content.forEachPiece { piece throws(AppToolsError) in
            sum = cordon_crc32(sum, piece.assumingMemoryBound(to: UInt8.self).baseAddress, piece.count)
        }
        var packed = content
        if isPacked, content.count <= Self.mostPacked { packed = try Self.deflated(content, name) }
        let method: UInt16 = isPacked && content.count <= Self.mostPacked ? 8 : 0
        guard let size = UInt32(exactly: content.count), let packedSize = UInt32(exactly: packed.count),
            size != .max, packedSize != .max, let place = UInt32(exactly: position), place != .max
        else { throw AppToolsError(.unsupported, "a changed file lies beyond four gigabytes", at: name) }
        let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
        let common =
            UInt16(isASCII ? 0 : 0x800).littleBytes + method.littleBytes + head.time + sum.littleBytes
            + packedSize.littleBytes + size.littleBytes + UInt16(clamping: name.utf8.count).littleBytes
            + UInt16(0).littleBytes
        write(UInt32(0x0403_4B50).littleBytes + UInt16(20).littleBytes + common + Data(name.utf8))
        write(packed)
        records.append(
            UInt32(0x0201_4B50).littleBytes + head.maker + UInt16(20).littleBytes + common + Data(count: 4)
                + head.attributes + place.littleBytes + Data(name.utf8))
    }

    /// The record of an entry whose place needs 64 bits.
    private static func farRecord(_ entry: ZipArchive.Entry, _ record: Data, at offset: Int) -> Data {
        let sizes = UInt64(entry.size).littleBytes + UInt64(entry.packedSize).littleBytes
        let name = Data(entry.name.utf8)
        let extra = UInt16(1).littleBytes + UInt16(24).littleBytes + sizes + UInt64(offset).littleBytes
        let long = UInt32.max.littleBytes
        return Data(record.prefix(20)) + long + long + UInt16(clamping: name.count).littleBytes
            + UInt16(clamping: extra.count).littleBytes + Data(count: 4) + Data(record.dropFirst(36).prefix(6)) + long
            + name + extra
    }

    private static func deflated(_ content: Data, _ name: String) throws(AppToolsError) -> Data {
        let capacity = cordon_deflate_bound(content.count)
        var written = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            written = content.withUnsafeBytes { input in
                cordon_deflate(
                    output.baseAddress, capacity, input.assumingMemoryBound(to: UInt8.self).baseAddress, input.count)
            }
            count = written
        }
        guard written > 0 else { throw AppToolsError(.unwritable, "cannot be packed", at: name) }
        return Data(bytes)
    }

    private mutating func write(_ data: Data) {
        pieces.append(data)
        position += data.count
    }
}
