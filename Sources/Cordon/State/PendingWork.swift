internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// What is still to be tried, what the service is still to be told, and the time that was seen: in memory as last read or
/// written, and on disk, where several processes of the app may change it at once. Any thread.
@dynamicMemberLookup
final class PendingWork: Sendable {
    /// What the file held.
    enum Condition {
        case sound
        /// It could not be read and was put aside; what it held is forgotten.
        case damaged
        /// A newer version of the app wrote it; it is left as it is, and nothing can be remembered meanwhile.
        case newer
    }

    private struct State {
        var record = Record()
        var isStartDone = false
    }

    private let state = Locked(State())
    private let file: StateFile
    private let lock: URL
    private let seal: StateSeal

    init(folder: StateFolder, seal: StateSeal) {
        self.seal = seal
        file = folder.file("life")
        lock = folder.lock
    }

    /// A member of the record, as last read or written.
    subscript<Value>(dynamicMember member: KeyPath<Record, Value>) -> Value {
        state.withLock { $0.record }[keyPath: member]
    }

    /// Whether the work that was due at the start of this process has been done.
    var isStartDone: Bool { state.withLock { $0.isStartDone } }

    /// Records that the work that was due at the start has been done.
    func recordStartDone() { state.withLock { $0.isStartDone = true } }

    /// Reads what is on disk, which another process may have changed.
    @discardableResult
    func load() throws(ProtectionError) -> Condition {
        let (record, condition, _) = try look()
        state.withLock { $0.record = record }
        return condition
    }

    /// Changes what is on disk, after whatever another process wrote, and takes it over.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`, also for a record of a newer version of the app.
    func change(_ edit: (inout Record) -> Void) throws(ProtectionError) {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            let (before, condition, _) = try look()
            if condition == .newer {
                throw ProtectionError(
                    .stateUnwritable, "what is remembered was written by a newer version of the app",
                    hint: "Update the app again.")
            }
            var record = before
            edit(&record)
            if record != before {
                try file.write(try seal.bytes(record, for: file))
                seal.noteSealed()
            }
            state.withLock { [record] in $0.record = record }
        }
    }

    /// Seals a record that a version before has stored plain, as it is; nothing for any other.
    func sealPlain() throws(ProtectionError) {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            let (record, condition, isPlain) = try look()
            guard isPlain, condition == .sound else { return }
            try file.write(try seal.bytes(record, for: file))
        }
    }

    private func look() throws(ProtectionError) -> (record: Record, condition: Condition, isPlain: Bool) {
        guard let bytes = try file.read() else { return (Record(), .sound, false) }
        let (reading, isPlain) = try seal.read(Record.self, from: bytes, of: file)
        switch reading {
        case .read(let record) where record.isPlausible: return (record, .sound, isPlain)
        case .newer:
            var unknown = Record()
            // The person may have switched it off.
            unknown.telemetryEnabled = false
            return (unknown, .newer, false)
        case .read, .damaged:
            file.setAside()
            return (Record(), .damaged, false)
        }
    }
}
