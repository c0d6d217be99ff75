import Foundation

/// A dictionary whose entries end, and that never grows beyond its capacity.
struct ProviderBoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var expires: Date
        let order: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var inserted: UInt64 = 0
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The value, unless it has expired.
    func value(_ key: Key, at now: Date) -> Value? {
        guard let entry = entries[key], entry.expires > now else { return nil }
        return entry.value
    }

    /// Stores a value; a full table gives up its oldest entries.
    mutating func insert(_ value: Value, for key: Key, until expires: Date, at now: Date) {
        if entries[key] == nil, !hasRoom(at: now) { removeOldest() }
        inserted += 1
        entries[key] = Entry(value: value, expires: expires, order: inserted)
    }

    /// Stores a value that must not push out another; false when the table is full.
    mutating func insertIfRoom(_ value: Value, for key: Key, until expires: Date, at now: Date) -> Bool {
        guard entries[key] != nil || hasRoom(at: now) else { return false }
        inserted += 1
        entries[key] = Entry(value: value, expires: expires, order: inserted)
        return true
    }

    /// Changes a value in place; nothing happens when it is absent or expired.
    mutating func update(_ key: Key, at now: Date, _ change: (inout Value) -> Void) {
        guard var entry = entries[key], entry.expires > now else { return }
        change(&entry.value)
        entries[key] = entry
    }

    /// Takes a value out.
    @discardableResult
    mutating func remove(_ key: Key, at now: Date) -> Value? {
        guard let entry = entries.removeValue(forKey: key), entry.expires > now else { return nil }
        return entry.value
    }

    /// Takes out every value that the condition names; the keys that went.
    @discardableResult
    mutating func removeAll(where condition: (Value) -> Bool) -> [Key] {
        let keys = entries.filter { condition($0.value.value) }.map(\.key)
        for key in keys { entries[key] = nil }
        return keys
    }

    private mutating func hasRoom(at now: Date) -> Bool {
        if entries.count < capacity { return true }
        entries = entries.filter { $0.value.expires > now }
        return entries.count < capacity
    }

    /// A tenth at once, so that a flood does not sort the table for each of its requests.
    private mutating func removeOldest() {
        let oldest = entries.sorted { $0.value.order < $1.value.order }.prefix(max(1, capacity / 10))
        for (key, _) in oldest { entries[key] = nil }
    }
}
