internal import CordonAEADShim
internal import CordonBase

/// Memory for secrets and plaintext: zeroed whole pages of its own, kept out of core dumps, and out of swap up to 64 KiB, as far as the
/// system allows: what a process may lock is little, and keys need it first.
///
/// A page each, because locking and dump exclusion work on whole pages and must not be undone by a neighbour. A few pages that came back,
/// overwritten with zeros, wait for the next secret with their guard in force: most secrets live for one call, and to guard a page and take
/// the guard back costs four calls of the system, several times what is done with the secret.
enum GuardedMemory {
    private static let page = 4096
    /// How many pages wait at most.
    private static let mostSpare = 8

    /// A page that waits. Who takes it out has it alone, hence the opt-out.
    private struct Page: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer
    }

    private static let spare = Locked<[Page]>([])

    /// Takes that much memory, a page at least.
    static func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count <= page, let page = spare.withLock({ $0.popLast() }) { return page.bytes }
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
