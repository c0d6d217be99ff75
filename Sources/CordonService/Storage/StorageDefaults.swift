extension StorageReader {
    /// The records with the ids, one after the other.
    public func records<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) -> [Record] {
        var found: [Record] = []
        for id in ids {
            if let record = try record(type, id) { found.append(record) }
        }
        return found
    }

    /// A page cut from all records of the part; a store that has many pages itself.
    public func page<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let rest = try records(type, of: part).drop { record in
            guard let id else { return false }
            return !id.utf8.lexicographicallyPrecedes(record.storageID.utf8)
        }
        return Array(rest.prefix(max(0, limit)))
    }

    /// The ids of a page.
    public func identifiers<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [String] {
        try page(type, of: part, after: id, limit: limit).map(\.storageID)
    }

    /// Counts the ids of a page.
    public func count<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, atMost most: Int
    ) throws(ServiceError) -> Int {
        try identifiers(type, of: part, after: nil, limit: most).count
    }

    /// The first of all records of the kind whose lookup is in the range.
    public func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
    ) throws(ServiceError) -> [Record] {
        func key(_ record: Record) -> [String.UTF8View] {
            [(record.lookups[lookup] ?? "").utf8, record.storageID.utf8]
        }
        let found = try records(type, where: nil).filter { record in
            record.lookups[lookup].map { value in
                !value.utf8.lexicographicallyPrecedes(range.lowerBound.utf8)
                    && value.utf8.lexicographicallyPrecedes(range.upperBound.utf8)
            } ?? false
        }
        let sorted = found.sorted { left, right in
            key(left).lexicographicallyPrecedes(key(right)) { $0.lexicographicallyPrecedes($1) }
        }
        return Array(sorted.prefix(max(0, limit)))
    }

    private func records<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart
    ) throws(ServiceError) -> [Record] {
        switch part {
        case .all: try records(type, where: nil)
        case .found(let lookup, let value): try records(type, where: (lookup, value))
        case .beginning(let prefix):
            try records(type, where: nil).filter { $0.storageID.utf8.starts(with: prefix.utf8) }
        }
    }
}

extension StorageTransaction {
    /// Saves one after the other.
    public func save<Record: StoredRecord>(contentsOf records: [Record]) throws(ServiceError) {
        for record in records { try save(record) }
    }

    /// Removes one after the other.
    public func remove<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) {
        for id in ids { try remove(type, id) }
    }
}
