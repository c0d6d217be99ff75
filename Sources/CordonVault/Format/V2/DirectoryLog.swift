internal import Foundation

/// One line of a folder's directory: what was about to be done to a name. 13 + n bytes:
///
///     0       1  1 the name comes, 2 it goes
///     1       4  entries so far, this one counted
///     5       4  names after it, as the writer counted
///     9       2  length n of the name
///     11      n  name
///     11 + n  2  n again, so that the last entry is found from the end
struct DirectoryEntry: Equatable {
    enum Change: UInt8 {
        case comes = 1
        case goes = 2
    }

    static let overhead = 13

    let change: Change
    let name: String
    let entries: UInt32
    let names: UInt32

    /// The entry that follows another, or begins a log.
    init(_ change: Change, _ name: String, after last: DirectoryEntry?) {
        self.change = change
        self.name = name
        let before = last?.names ?? 0
        entries = (last?.entries ?? 0) &+ 1
        names = change == .comes ? before &+ 1 : (before == 0 ? 0 : before - 1)
    }

    /// Reads the entry that is all of the bytes.
    ///
    /// - Throws: `damaged` where it isn't an entry.
    init(_ bytes: Data) throws(VaultError) {
        let memory = RawMemory(bytes)
        let length = bytes.count - Self.overhead
        guard length >= 0, memory.load(9, as: UInt16.self) == length,
            memory.load(11 + length, as: UInt16.self) == length,
            let change = Change(rawValue: memory.load(0)),
            let name = String(validating: memory.array(11, length), as: UTF8.self)
        else { throw DirectoryLog.malformed }
        self.change = change
        self.name = name
        entries = memory.load(1)
        names = memory.load(5)
    }

    func append(to bytes: inout Data) {
        let name = Array(name.utf8)
        bytes.append(change.rawValue)
        withUnsafeBytes(of: entries.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: names.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(clamping: name.count).littleEndian) { length in
            bytes.append(contentsOf: length)
            bytes.append(contentsOf: name)
            bytes.append(contentsOf: length)
        }
    }

    /// Whether so much of the log is of no use any more that it is worth rewriting.
    var isMostlyGarbage: Bool { entries / 2 > names &+ 256 }
}

/// The plaintext of a folder's directory, a log of its names. It serves listing alone.
enum DirectoryLog {
    static let malformed = VaultError(.damaged, "The folder's directory is not well formed.")

    /// The log of names that are all there.
    static func bytes(of names: [String]) -> (bytes: Data, last: DirectoryEntry?) {
        var bytes = Data()
        var last: DirectoryEntry?
        for name in names {
            let entry = DirectoryEntry(.comes, name, after: last)
            entry.append(to: &bytes)
            last = entry
        }
        return (bytes, last)
    }

    /// The names that a log leaves, each once and in order.
    ///
    /// - Parameter isThere: Whether the file of the last entry's name is there: that entry may have been written without
    ///   its deed having been done. Every other one was followed by another, whose writer looked.
    /// - Throws: `damaged` for what is not a log.
    static func names(
        in bytes: Data, isThere: (String) throws(VaultError) -> Bool
    ) throws(VaultError) -> [String] {
        var names: [String] = []
        var failure: VaultError?
        bytes.withUnsafeBytes { memory in
            do throws(VaultError) {
                var lines = try read(memory)
                guard let last = lines.indices.last else { return }
                lines[last].isThere = try isThere(lines[last].name(in: memory))
                names = try lasting(&lines, in: memory)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return names
    }

    private static func read(_ memory: UnsafeRawBufferPointer) throws(VaultError) -> [Line] {
        var lines: [Line] = []
        var place = 0
        while place < memory.count {
            guard memory.count - place >= DirectoryEntry.overhead else { throw malformed }
            let length = Int(number(in: memory, at: place + 9))
            let next = place + DirectoryEntry.overhead + length
            guard next <= memory.count, number(in: memory, at: next - 2) == length,
                let change = DirectoryEntry.Change(rawValue: memory[place])
            else { throw malformed }
            lines.append(Line(start: place + 11, count: length, isThere: change == .comes))
            place = next
        }
        return lines
    }

    private static func number(in memory: UnsafeRawBufferPointer, at offset: Int) -> UInt16 {
        UInt16(littleEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// What the last line of each name says. Lines are sorted where they are, because there may be very many, and a text for each
    /// would take most of the time.
    private static func lasting(
        _ lines: inout [Line], in memory: UnsafeRawBufferPointer
    ) throws(VaultError) -> [String] {
        let common = commonPrefix(of: lines, in: memory)
        for index in lines.indices { lines[index].setKey(after: common, in: memory) }
        lines.sort { $0.isBefore($1, in: memory) }
        var names: [String] = []
        names.reserveCapacity(lines.count)
        for (index, line) in lines.enumerated() {
            if index + 1 < lines.count, line.isSameName(as: lines[index + 1], in: memory) { continue }
            let name = try line.name(in: memory)
            if line.isThere { names.append(name) }
        }
        return names
    }

    /// How many bytes all names begin with.
    private static func commonPrefix(of lines: [Line], in memory: UnsafeRawBufferPointer) -> Int {
        guard let first = lines.first else { return 0 }
        var common = first.count
        for line in lines {
            var same = 0
            let most = min(common, line.count)
            while same < most, memory[first.start + same] == memory[line.start + same] { same += 1 }
            common = same
        }
        return common
    }
}

/// One line of a log, as a place in it.
private struct Line {
    let start: Int
    let count: Int
    var isThere: Bool
    /// The first eight bytes in which names differ: they tell most of them apart without a look into the log.
    private var key: UInt64 = 0

    init(start: Int, count: Int, isThere: Bool) {
        self.start = start
        self.count = count
        self.isThere = isThere
    }

    mutating func setKey(after common: Int, in memory: UnsafeRawBufferPointer) {
        key = 0
        for place in common..<common + 8 {
            key = key << 8 | (place < count ? UInt64(memory[start + place]) : 0)
        }
    }

    /// The order of names' bytes, which is that of their characters; of equal names the one that was written first.
    func isBefore(_ other: Line, in memory: UnsafeRawBufferPointer) -> Bool {
        if key != other.key { return key < other.key }
        let order = compared(with: other, in: memory)
        return order == 0 ? (count, start) < (other.count, other.start) : order < 0
    }

    func isSameName(as other: Line, in memory: UnsafeRawBufferPointer) -> Bool {
        key == other.key && count == other.count && compared(with: other, in: memory) == 0
    }

    func name(in memory: UnsafeRawBufferPointer) throws(VaultError) -> String {
        let bytes = UnsafeRawBufferPointer(rebasing: memory[start..<start + count])
        guard let name = String(validating: bytes, as: UTF8.self) else { throw DirectoryLog.malformed }
        return name
    }

    private func compared(with other: Line, in memory: UnsafeRawBufferPointer) -> Int32 {
        guard let base = memory.baseAddress else { return 0 }
        return memcmp(base + start, base + other.start, min(count, other.count))
    }
}

extension DirectoryEntry {
    /// The last entry of a directory that is open; nil of an empty one.
    static func last(in file: SealedFile) throws(VaultError) -> DirectoryEntry? {
        let size = try file.size()
        guard size > 0 else { return nil }
        guard size >= Int64(DirectoryEntry.overhead) else { throw DirectoryLog.malformed }
        let end = RawMemory(2)
        _ = try file.read(into: end.slice(0, 2), at: size - 2)
        let count = DirectoryEntry.overhead + Int(end.load(0, as: UInt16.self))
        guard size >= Int64(count) else { throw DirectoryLog.malformed }
        let memory = RawMemory(count)
        _ = try file.read(into: memory.slice(0, count), at: size - Int64(count))
        return try DirectoryEntry(Data(memory.array(0, count)))
    }
}
