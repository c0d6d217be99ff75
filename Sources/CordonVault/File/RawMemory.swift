internal import CordonAEADShim

/// A block of bytes reused for as long as its owner lives, page-aligned, zeroed at release because it may have held
/// plaintext. Its owner orders access; it is not safe to share between threads.
///
/// What is said to hold secrets or plaintext lies in ``GuardedMemory``.
final class RawMemory {
    let bytes: UnsafeMutableRawBufferPointer
    private let guarded: GuardedMemory?

    /// Takes that much zeroed memory.
    init(_ count: Int, isSecret: Bool = false) {
        guarded = isSecret ? GuardedMemory(count) : nil
        if let guarded {
            bytes = guarded.bytes
            return
        }
        bytes = .allocate(byteCount: max(count, 1), alignment: 4096)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Takes a copy of bytes.
    convenience init(_ source: some Collection<UInt8>) {
        self.init(source.count)
        bytes.copyBytes(from: source)
    }

    deinit {
        if let guarded { return guarded.giveBack() }
        zero()
        bytes.deallocate()
    }

    /// Overwrites everything with zeros.
    func zero() {
        if let base = bytes.baseAddress { cordon_zero(base, bytes.count) }
    }

    /// Part of the memory.
    func slice(_ offset: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// A copy of part of the memory.
    func array(_ offset: Int, _ count: Int) -> [UInt8] {
        Array(bytes[offset..<offset + count])
    }

    /// Whether a part holds zeros alone.
    func isZero(from offset: Int, to end: Int) -> Bool {
        var place = offset
        while place + 8 <= end {
            if bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) != 0 { return false }
            place += 8
        }
        while place < end {
            if bytes[place] != 0 { return false }
            place += 1
        }
        return true
    }

    /// A little-endian number at an offset.
    func load<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type = Number.self) -> Number {
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    /// Puts a little-endian number at an offset.
    func store<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }

    /// Puts bytes at an offset.
    func store(_ source: some Collection<UInt8>, at offset: Int) {
        UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyBytes(from: source)
    }
}
