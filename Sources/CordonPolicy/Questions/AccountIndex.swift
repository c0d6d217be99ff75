internal import CordonIdentity

/// Finds the policy of an account without hashing the whole id anew by the standard hasher, which would
/// cost more than the decision itself. Made once, never changed.
///
/// Slots hold entries under a quick hash of the id's bytes in one letter case. Whatever is not found
/// there, an id beyond ASCII in another case among it, is looked up in the dictionary, so equality stays
/// that of ``AccountID``.
struct AccountIndex: Sendable {
    /// Policies in the order of their accounts' ids.
    let policies: [PolicyInForce]
    let accounts: [AccountID]
    private let slots: [Slot]
    private let positions: [AccountID: Int]
    private let hasASCIIOnly: Bool
    /// The one account that there is: most apps have no more, and comparing costs less than finding.
    private let only: AccountID
    private let hasOne: Bool

    /// A hash and the position of the account that has it; -1 is free.
    private struct Slot {
        var hash: UInt64 = 0
        var position = -1
    }

    init(_ all: [AccountID: PolicyInForce]) {
        let sorted = all.sorted { $0.key.rawValue < $1.key.rawValue }
        accounts = sorted.map(\.key)
        policies = sorted.map(\.value)
        positions = Dictionary(uniqueKeysWithValues: accounts.enumerated().map { ($1, $0) })
        hasASCIIOnly = accounts.allSatisfy { $0.rawValue.utf8.allSatisfy { $0 < 0x80 } }
        var size = 4
        while size < all.count * 4 { size *= 2 }
        var slots = [Slot](repeating: Slot(), count: size)
        for (position, account) in accounts.enumerated() {
            let hash = Self.quickHash(account).hash
            var slot = Self.slot(of: hash, in: size)
            while slots[slot].position >= 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = Slot(hash: hash, position: position)
        }
        self.slots = slots
        hasOne = accounts.count == 1
        only = accounts.first ?? AccountID("")
    }

    /// Where the policy of an account stands; nil when it has none.
    func position(of account: borrowing AccountID) -> Int? {
        if hasOne, only == account { return 0 }
        if accounts.isEmpty { return nil }
        let (hash, isASCII) = Self.quickHash(account)
        var slot = Self.slot(of: hash, in: slots.count)
        while slots[slot].position >= 0 {
            let found = slots[slot]
            if found.hash == hash, accounts[found.position] == account { return found.position }
            slot = (slot + 1) & (slots.count - 1)
        }
        // Equal ids whose bytes hash apart have a letter beyond ASCII on one side.
        return isASCII && hasASCIIOnly ? nil : positions[copy account]
    }

    subscript(account: AccountID) -> PolicyInForce? {
        position(of: account).map { policies[$0] }
    }

    private static func slot(of hash: UInt64, in size: Int) -> Int { Int(truncatingIfNeeded: hash >> 32) & (size - 1) }

    /// A hash that the case of ASCII letters does not change, as bit 5 is set in every byte; and whether there
    /// are no others.
    private static func quickHash(_ account: borrowing AccountID) -> (hash: UInt64, isASCII: Bool) {
        account.rawValue.utf8.withContiguousStorageIfAvailable { quickHash(UnsafeRawBufferPointer($0)) } ?? (0, false)
    }

    private static func quickHash(_ bytes: UnsafeRawBufferPointer) -> (hash: UInt64, isASCII: Bool) {
        var hash = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        var seen: UInt64 = 0
        func mix(_ word: UInt64) {
            seen |= word
            hash = (hash ^ (word | 0x2020_2020_2020_2020)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        if bytes.count < 8 {
            var word: UInt64 = 0
            for byte in bytes { word = word << 8 | UInt64(byte) }
            mix(word)
        } else {
            var index = 0
            while index + 8 < bytes.count {
                mix(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index += 8
            }
            // The last eight bytes, some of them for the second time.
            mix(bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
        }
        return (hash, seen & 0x8080_8080_8080_8080 == 0)
    }
}
