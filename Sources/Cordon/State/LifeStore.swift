internal import CordonProtocol
internal import Foundation

/// The life record on disk; several processes of the app may use it at once.
struct LifeStore: Sendable {
    private let file: StateFile
    private let lock: URL

    init(folder: StateFolder) {
        file = folder.file("life")
        lock = folder.lock
    }

    /// What is remembered; a file that cannot be read is put aside, and what it held is forgotten.
    func load() throws(ProtectionError) -> (record: LifeRecord, wasDamaged: Bool) {
        guard let bytes = try file.read() else { return (LifeRecord(), false) }
        switch StateFormat.read(LifeRecord.self, from: bytes) {
        case .read(let record): return (record, false)
        case .newer, .damaged:
            file.setAside()
            return (LifeRecord(), true)
        }
    }

    /// Changes what is on disk, after whatever another process wrote; what is there afterwards.
    func change(_ edit: (inout LifeRecord) -> Void) throws(ProtectionError) -> LifeRecord {
        try FileLock.exclusively(lock) { () throws(ProtectionError) in
            let before = try load().record
            var record = before
            edit(&record)
            guard record != before else { return record }
            guard let bytes = try? MessageCoding.encode(record) else {
                throw ProtectionError(.stateUnwritable, "the life record has no JSON form")
            }
            try file.write(bytes)
            return record
        }
    }
}
