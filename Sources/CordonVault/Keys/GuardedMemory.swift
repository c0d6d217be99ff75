internal import CordonAEADShim

/// Memory for secrets and plaintext: zeroed whole pages of its own, kept out of core dumps, and out of swap up to 64 KiB, as far as the
/// system allows: what a process may lock is little, and keys need it first. Whoever took it gives it back.
struct GuardedMemory: @unchecked Sendable {  // who has it orders access
    /// As many bytes as were asked for, a page at least.
    let bytes: UnsafeMutableRawBufferPointer
    /// The page, where one is enough; none for anything longer.
    private let page: cordon_guarded_page

    /// Takes that much memory.
    init(_ count: Int) {
        let size = cordon_guarded_size()
        page = count <= size ? cordon_guarded_take() : cordon_guarded_page()
        if let start = page.bytes {
            bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
            return
        }
        bytes = .allocate(byteCount: max(count, size), alignment: size)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        guard let base = bytes.baseAddress else { return }
        if count <= 1 << 16 { cordon_guard(base, bytes.count) } else { cordon_leave_undumped(base, bytes.count) }
    }

    /// Overwrites it with zeros.
    func zero() {
        if let base = bytes.baseAddress { cordon_zero(base, bytes.count) }
    }

    /// Overwrites it with zeros and gives it back.
    func giveBack() {
        guard page.bytes == nil else { return cordon_guarded_give_back(page) }
        zero()
        if let base = bytes.baseAddress { cordon_unguard(base, bytes.count) }
        bytes.deallocate()
    }
}
