/// Several handles, because one name may mean several things in a file.
struct HandleSet: OptionSet, Hashable {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }
    init(_ handle: Handle) { rawValue = 1 << UInt64(handle.rawValue) }

    func contains(_ handle: Handle) -> Bool { contains(HandleSet(handle)) }

    /// Whether one of them counts every member.
    var isStrict: Bool { contains(.pasteboard) }
}

/// What the names of a file ask, each in the blocks that know it.
struct ScopedNames {
    private var byName: [UInt64: [Int: ActionSet]] = [:]

    /// - Parameter scope: The brace of the block that the name is known in; -1 for the whole file.
    mutating func add(_ name: UInt64, _ actions: ActionSet, in scope: Int) {
        byName[name, default: [:]][scope, default: []].formUnion(actions)
    }

    /// What the name at a token asks; nil for one that is not known there.
    ///
    /// - Parameter isShadowed: Whether the function around has something of its own by that name, so that the file's is not meant.
    func actions(of index: Int, in reader: CodeReader, isShadowed: @autoclosure () -> Bool) -> ActionSet? {
        guard let known = byName[reader.hash(index)] else { return nil }
        var found = isShadowed() ? nil : known[-1]
        var opener = reader.enclosing(index)
        while opener >= 0 {
            if let actions = known[opener] { found = actions.union(found ?? []) }
            opener = reader.enclosing(opener)
        }
        return found
    }
}

/// Which handles the names of a file stand for, and where.
struct NameTable {
    private struct Entry {
        let handle: Handle
        /// The brace of the block that the name is known in; -1 for the whole file.
        let scope: Int
    }

    private var entries: [UInt64: [Entry]] = [:]
    /// A name that is declared more often than this is taken for the whole file.
    private static let most = 32

    var isEmpty: Bool { entries.isEmpty }

    mutating func declare(_ name: UInt64, _ handle: Handle, in scope: Int) {
        var known = entries[name] ?? []
        guard !known.contains(where: { $0.handle == handle && ($0.scope == scope || $0.scope < 0) }) else { return }
        known.append(Entry(handle: handle, scope: known.count < Self.most ? scope : -1))
        entries[name] = known
    }

    /// What a name stands for at a token.
    func handles(_ name: UInt64, at index: Int, in reader: CodeReader) -> HandleSet {
        guard let known = entries[name] else { return [] }
        return known.reduce(into: HandleSet()) { handles, entry in
            if entry.scope < 0 || entry.scope < index && index <= reader.partner(entry.scope) {
                handles.insert(HandleSet(entry.handle))
            }
        }
    }
}
