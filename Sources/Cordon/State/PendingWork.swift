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
        /// There is none, and never was.
        case absent
        /// It was removed or put back: what it held of the time, and of the person's switch, counts for nothing.
        case doubted
        /// It could not be read and was put aside; what it held is forgotten.
        case damaged
        /// A newer version of the app wrote it; it is left as it is, and nothing can be remembered meanwhile.
        case newer
    }

    private struct State {
        var record = Record()
        /// How long the machine was seen to run, as far as the next start of the app will know.
        var keptRunTime: RunTime?
        /// Whether the file is from a newer version of the app, so that the record is in memory alone.
        var isNewer = false
        var isStartDone = false
    }

    private let state = Locked(State())
    private let stored: SealedState<Record>
    private let lock: URL

    init(folder: StateFolder, seal: StateSeal) {
        stored = SealedState(file: folder.file("life"), purpose: "life", seal: seal, former: .json)
        lock = folder.lock
    }

    /// A member of the record, as last read or written.
    subscript<Value>(dynamicMember member: KeyPath<Record, Value>) -> Value {
        state.withLock { $0.record }[keyPath: member]
    }

    /// How long the machine was seen to run, as it was last stored and counted; nil where it never was.
    var keptRunTime: RunTime? { state.withLock { $0.keptRunTime } }

    /// Whether the work that was due at the start of this process has been done.
    var isStartDone: Bool { state.withLock { $0.isStartDone } }

    /// Records that the work that was due at the start has been done.
    func recordStartDone() { state.withLock { $0.isStartDone = true } }

    /// Reads what is on disk, which another process may have changed.
    @discardableResult
    func load() throws(ProtectionError) -> Condition {
        var (record, condition, found) = try look()
        if condition == .damaged {
            _ = stored.file.setAside(under: lock) { () throws(ProtectionError) in
                (record, condition, found) = try look()
                return condition != .damaged
            }
        }
        state.withLock { [record, condition, found] state in
            if condition != .newer || !state.isNewer { state.record = record }
            state.isNewer = condition == .newer
            if condition == .sound, !found.isUnraised { state.keptRunTime = record.runTime }
        }
        return condition
    }

    /// Changes what is on disk, after whatever another process wrote, and takes it over.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`, also for a record of a newer version of the app.
    func change(_ edit: (inout Record) -> Void) throws(ProtectionError) {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            let (before, condition, found) = try look()
            if condition == .damaged { stored.file.setAside() }
            if condition == .newer {
                throw ProtectionError(
                    .stateUnwritable, "what is remembered was written by a newer version of the app",
                    hint: "Update the app again.")
            }
            var record = before
            edit(&record)
            var isCounted = !found.isUnraised
            // What is known in spite of a number that cannot be raised is known.
            if record != before || condition == .doubted {
                isCounted = try stored.write(over: found) { _ in record }.isCounted
            }
            state.withLock { [record, isCounted] state in
                (state.record, state.isNewer) = (record, false)
                if isCounted { state.keptRunTime = record.runTime }
            }
        }
    }

    /// Whether a registration is of an account that leaves without a wipe, and has not gone yet: something waits, failed or was cut off.
    func hasLeft(_ registration: RegistrationRecord) -> Bool { isLeaving(registration.account.id, registration) }

    /// Whether an account leaves without a wipe, and has not gone yet.
    ///
    /// - Parameter registration: What is stored of it, nil where nothing is. The notes of older versions, and those of a record in doubt, are
    ///   told by it: a registration that was made since has seen the service later.
    func isLeaving(_ account: AccountID, _ registration: RegistrationRecord?) -> Bool {
        self.unenrollments.contains { owed in
            guard owed.account == account else { return false }
            if let leaves = owed.leaves { return leaves }
            guard let registration else { return false }
            return owed.registrationID == registration.registrationID && owed.ended > registration.lastCheckIn
        }
    }

    /// Notes that an account's registration has gone here, or that another one is in its place; what the service is owed stays.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func endLeave(of account: AccountID, replacedBy successor: String? = nil) throws(ProtectionError) {
        try change { work in
            work.unenrollments.removeAll { $0.registrationID == successor }
            for index in work.unenrollments.indices where work.unenrollments[index].account == account {
                work.unenrollments[index].leaves = false
            }
        }
    }

    /// Notes which registration an account leaves: it may have been renewed by what was under way then.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func noteRegistration(ofLeaving record: RegistrationRecord) throws(ProtectionError) {
        try change { work in
            for index in work.unenrollments.indices
            where work.unenrollments[index].account == record.account.id && work.unenrollments[index].leaves == true {
                work.unenrollments[index].registrationID = record.registrationID
                work.unenrollments[index].discovery = record.discovery
                work.unenrollments[index].deviceTag = record.deviceTag
            }
        }
    }

    /// Takes a record over that a version before has stored, as it is; nothing for any other.
    func takeOver() throws(ProtectionError) {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            guard try look().condition == .sound else { return }
            try stored.takeOver { record, _ in record }
        }
    }

    private func look() throws(ProtectionError) -> (
        record: Record, condition: Condition, found: SealedState<Record>.Found
    ) {
        let found = try stored.look()
        switch found.contents {
        case .absent: return (Record(), .absent, found)
        case .value(let record) where record.isPlausible: return (record, .sound, found)
        case .newer:
            // Nothing shows who has written it, so it is treated like a missing record.
            return (doubted(nil), .newer, found)
        case .value, .doubtful(.damaged): return (doubted(nil), .damaged, found)
        case .doubtful: return (doubted(found.value), .doubted, found)
        }
    }

    private func doubted(_ record: Record?) -> Record {
        var record = record.flatMap { $0.isPlausible ? $0 : nil } ?? Record()
        record.isMomentInDoubt = true
        // The account may be enrolled again since: such a note ends the registration that it is about, as one of an older version does.
        for index in record.unenrollments.indices where record.unenrollments[index].leaves == true {
            record.unenrollments[index].leaves = nil
        }
        record.telemetryEnabled = false
        return record
    }
}
