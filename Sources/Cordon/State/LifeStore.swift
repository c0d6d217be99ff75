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

    /// What the file held.
    enum Condition {
        case sound
        /// It could not be read and was put aside; what it held is forgotten.
        case damaged
        /// A newer version of the app wrote it; it is left as it is, and nothing can be remembered meanwhile.
        case newer
    }

    /// What is remembered.
    func load() throws(ProtectionError) -> (record: LifeRecord, condition: Condition) {
        guard let bytes = try file.read() else { return (LifeRecord(), .sound) }
        switch StateFormat.read(LifeRecord.self, from: bytes) {
        case .read(let record): return (record, .sound)
        case .newer:
            var unknown = LifeRecord()
            // The person may have switched it off.
            unknown.telemetryEnabled = false
            return (unknown, .newer)
        case .damaged:
            file.setAside()
            return (LifeRecord(), .damaged)
        }
    }

    /// Changes what is on disk, after whatever another process wrote; what is there afterwards.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`, also for a record of a newer version of the app.
    func change(_ edit: (inout LifeRecord) -> Void) throws(ProtectionError) -> LifeRecord {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            let (before, condition) = try load()
            if condition == .newer {
                throw ProtectionError(
                    .stateUnwritable, "what is remembered was written by a newer version of the app",
                    hint: "Update the app again.")
            }
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
