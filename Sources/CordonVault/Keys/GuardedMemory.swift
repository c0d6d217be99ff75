internal import CordonAEADShim
internal import CordonBase
internal import Foundation

/// Memory for secrets and plaintext: zeroed whole pages of its own, kept out of core dumps, and out of swap up to 64 KiB, as far as the
/// system allows: what a process may lock is little, and keys need it first.
///
/// A page each, because locking and dump exclusion work on whole pages and must not be undone by a neighbour. A few pages that came back,
/// overwritten with zeros, wait for the next secret: most secrets live for one call, and to make a page, guard it and take the guard back
/// costs several times what is done with the secret. Each is locked again when it is taken: the system may have refused before, and a
/// forked child has none of its parent's locks.
enum GuardedMemory {
    private static let page = max(4096, Int(getpagesize()))
    /// How many pages wait at most.
    private static let mostSpare = 8

    /// A page that waits. Who takes it out has it alone, hence the opt-out.
    private struct Page: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer
    }

    private static let spare = Locked<[Page]>([])

    /// Takes that much memory, a page at least.
    static func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count <= page, let waiting = spare.withLock({ $0.popLast() }) {
            if let base = waiting.bytes.baseAddress { _ = mlock(base, page) }
            return waiting.bytes
        }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, page), alignment: page)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        if let base = bytes.baseAddress {
            if count <= 1 << 16 { cordon_guard(base, bytes.count) } else { cordon_leave_undumped(base, bytes.count) }
        }
        return bytes
    }

    /// Overwrites memory with zeros and gives it back.
    static func giveBack(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        cordon_zero(base, bytes.count)
        let returned = Page(bytes: bytes)
        let isKept =
            bytes.count == page
            && spare.withLock { spare in
                guard spare.count < mostSpare else { return false }
                spare.append(returned)
                return true
            }
        if isKept { return }
        cordon_unguard(base, bytes.count)
        bytes.deallocate()
    }
}
