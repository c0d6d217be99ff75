internal import CordonIdentity

/// Finds the policy of an account without hashing the whole id anew by the standard hasher, which would
/// cost more than the decision itself. Made once, never changed.
///
/// Slots hold accounts under a quick hash of their ASCII bytes in one letter case. Whatever is not found
/// there, ids beyond ASCII among it, is looked up in the dictionary, so equality stays that of ``AccountID``.
struct AccountIndex: Sendable {
    private let slots: [(account: AccountID, policy: PolicyInForce)?]
    private let mask: UInt64
    let all: [AccountID: PolicyInForce]

    init(_ all: [AccountID: PolicyInForce]) {
        self.all = all
        var size: UInt64 = 4
        while size < UInt64(all.count) * 4 { size *= 2 }
        mask = size - 1
        var slots = [(account: AccountID, policy: PolicyInForce)?](repeating: nil, count: Int(size))
        for (account, policy) in all {
            var slot = Int(Self.quickHash(account) & mask)
            while slots[slot] != nil { slot = (slot + 1) & Int(mask) }
            slots[slot] = (account, policy)
        }
        self.slots = slots
    }

    subscript(account: AccountID) -> PolicyInForce? {
        var slot = Int(Self.quickHash(account) & mask)
        while let entry = slots[slot] {
            if entry.account == account { return entry.policy }
            slot = (slot + 1) & Int(mask)
        }
        return all[account]
    }

    /// A hash that letter case does not change: bit 5 is set in every byte.
    private static func quickHash(_ account: AccountID) -> UInt64 {
        var id = account.rawValue
        return id.withUTF8 { bytes in
            var hash = UInt64(bytes.count)
            var index = 0
            while index + 8 <= bytes.count {
                let word = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
                hash = (hash ^ (word | 0x2020_2020_2020_2020)) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
                index += 8
            }
            while index < bytes.count {
                hash = (hash ^ UInt64(bytes[index] | 0x20)) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
                index += 1
            }
            return hash
        }
    }
}
