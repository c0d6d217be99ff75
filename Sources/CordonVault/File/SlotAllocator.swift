/// Hands out the places where blocks are written. A place that the last commit can reach is never handed out, so a
/// crash always finds that commit's blocks untouched. Not safe to share between threads; its owner locks.
final class SlotAllocator {
    /// Slots in use or free, from 1.
    private(set) var count: UInt32
    /// Slots that the last commit knew; what lies beyond belongs to no commit yet.
    private var committedCount: UInt32
    private var free: [UInt32]
    /// Reused since the last commit, hence not reachable from it.
    private var fresh: Set<UInt32> = []
    /// Reachable from the last commit, free after the next.
    private var retired: [UInt32] = []

    init(count: UInt32, free: [UInt32] = []) {
        self.count = count
        committedCount = count
        self.free = free
    }

    /// Whether a block may be overwritten where it stands, because no commit reaches it.
    func mayOverwrite(_ slot: UInt32) -> Bool {
        slot > committedCount || fresh.contains(slot)
    }

    /// A place for a block.
    ///
    /// - Throws: `noSpace` when the format's 2^32 slots are used up.
    func take() throws(VaultError) -> UInt32 {
        if let slot = free.popLast() {
            fresh.insert(slot)
            return slot
        }
        guard count < UInt32.max else { throw VaultError(.noSpace, "The file has used all its slots.") }
        count += 1
        return count
    }

    /// Gives back the place of a block that is no longer wanted.
    func release(_ slot: UInt32) {
        if mayOverwrite(slot) {
            fresh.remove(slot)
            free.append(slot)
        } else {
            retired.append(slot)
        }
    }

    /// What the next commit leaves as the highest slot in use, if it cuts free slots off the end.
    func countWithoutFreeTail() -> UInt32 {
        // The tail is no longer than all that is unused. A hash table of that would cost a commit more than its blocks do, where many slots are free.
        let start = count - min(count, UInt32(clamping: free.count + retired.count))
        var isUnused = [Bool](repeating: false, count: Int(count - start))
        for slots in [free, retired] { for slot in slots where slot > start { isUnused[Int(slot - start) - 1] = true } }
        var end = count
        while end > start, isUnused[Int(end - start) - 1] { end -= 1 }
        return end
    }

    /// A commit is durable: what it does not reach may be used again.
    func didCommit() {
        free.append(contentsOf: retired)
        retired.removeAll()
        fresh.removeAll()
        committedCount = count
    }

    /// Forgets free slots at the end; only right after a commit.
    func cut(to end: UInt32) {
        free.removeAll { $0 > end }
        count = end
        committedCount = end
    }
}
