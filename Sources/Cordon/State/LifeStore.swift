internal import CordonProtocol
internal import Foundation

/// The life record on disk; several processes of the app may use it at once.
struct LifeStore: Sendable {
    private let file: StateFile
    private let lock: URL
    private let seal: StateSeal

    init(folder: StateFolder, seal: StateSeal) {
        self.seal = seal
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
        let (record, condition, _) = try look()
        return (record, condition)
    }

    /// Seals a record that a version before has stored plain, as it is; nothing for any other.
    func sealPlain() throws(ProtectionError) {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            let (record, condition, isPlain) = try look()
            guard isPlain, condition == .sound else { return }
            try file.write(try seal.bytes(record, for: file))
        }
    }

    private func look() throws(ProtectionError) -> (record: LifeRecord, condition: Condition, isPlain: Bool) {
        guard let bytes = try file.read() else { return (LifeRecord(), .sound, false) }
        let (reading, isPlain) = try seal.read(LifeRecord.self, from: bytes, of: file)
        switch reading {
        case .read(let record) where record.isPlausible: return (record, .sound, isPlain)
        case .newer:
            var unknown = LifeRecord()
            // The person may have switched it off.
            unknown.telemetryEnabled = false
            return (unknown, .newer, false)
        case .read, .damaged:
            file.setAside()
            return (LifeRecord(), .damaged, false)
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
            try file.write(try seal.bytes(record, for: file))
            seal.noteSealed()
            return record
        }
    }
}
