internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The registrations of this app on disk, one file each, named by a hash of the account so that no file name tells who it is.
///
/// Several processes of the app may use it at once.
struct RegistrationStore: Sendable {
    let folder: StateFolder
    let seal: StateSeal

    /// What the folder held.
    struct Contents {
        /// Every record that could be read.
        var records: [RegistrationRecord] = []
        /// The accounts whose record is not the one that was written last.
        var doubted: Set<AccountID> = []
        /// The accounts whose record cannot be counted now, though there is room, so that the one before it would count as well.
        var uncounted: Set<AccountID> = []
        /// How many were damaged, or put back after they had been removed; renamed where the lock could be had.
        var damaged = 0
        /// How many of these lie there still.
        var leftInPlace = 0
        /// How many a newer version of the app wrote; they are left as they are.
        var newer = 0
        /// The accounts whose record an earlier version has stored.
        var former: [AccountID] = []
    }

    /// Everything there is.
    func load() throws(ProtectionError) -> Contents {
        var contents = Contents()
        for file in try folder.files() {
            if try read(file, into: &contents) { continue }
            let isRead = file.setAside(under: folder.lock) { () throws(ProtectionError) in
                try read(file, into: &contents)
            }
            guard !isRead else { continue }
            contents.damaged += 1
            if FileManager.default.fileExists(atPath: file.url.path) { contents.leftInPlace += 1 }
        }
        return contents
    }

    /// Adds what a file holds; false where it counts for nothing.
    private func read(_ file: StateFile, into contents: inout Contents) throws(ProtectionError) -> Bool {
        let found = try state(in: file).look()
        switch found.contents {
        case .absent, .doubtful(.missing): break
        case .newer: contents.newer += 1
        case .value, .doubtful(.older), .doubtful(.uncounted):
            guard let record = found.value, record.isPlausible,
                self.file(record.account.id).url.lastPathComponent == file.url.lastPathComponent
            else { return false }
            contents.records.append(record)
            if case .doubtful = found.contents {
                contents.doubted.insert(record.account.id)
            } else if found.isFormer {
                if isOlderThanNoted(record) {
                    contents.doubted.insert(record.account.id)
                } else {
                    contents.former.append(record.account.id)
                }
            } else if found.isUnraised, !found.isDiskFull {
                contents.uncounted.insert(record.account.id)
            }
        case .doubtful(.damaged), .doubtful(.removed): return false
        }
        return true
    }

    /// The record of an account, also one that is in doubt; nil where there is none that can be read.
    func record(of account: AccountID) throws(ProtectionError) -> RegistrationRecord? {
        Self.record(in: try state(in: file(account)).look())
    }

    /// The generation of a registration that is known: as it is stored; where that is missing or damaged, as it is known; nil where a newer
    /// version of the app has written it.
    func generation(of known: RegistrationRecord) throws(ProtectionError) -> Int64? {
        let found = try state(in: file(known.account.id)).look()
        if case .newer = found.contents { return nil }
        return Self.record(in: found)?.generation ?? known.generation
    }

    private static func record(in found: SealedState<RegistrationRecord>.Found) -> RegistrationRecord? {
        switch found.contents {
        case .value, .doubtful(.older), .doubtful(.uncounted): found.value.flatMap { $0.isPlausible ? $0 : nil }
        default: nil
        }
    }

    /// Whether an account's registration ended here as it should, or there never was one.
    func hasNone(_ account: AccountID) -> Bool {
        guard let found = try? state(in: file(account)).look(), case .absent = found.contents else { return false }
        return found.isCounted
    }

    /// Whether an account has a registration here, or had one that did not end as it should, as the state counter says; nil where that cannot
    /// be told. A file that lies there, or a key's record, may be anybody's.
    func isOrWasHere(_ account: AccountID) -> Bool? {
        guard let found = try? state(in: file(account)).look() else { return nil }
        if case .value = found.contents { return true }
        return found.isKnownToCounter
    }

    /// Notes that an account which an earlier version has removed has no registration.
    func noteAbsence(of account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            try state(in: file(account)).noteAbsence()
        }
    }

    /// Takes over the record of an account that an earlier version has stored, as it is.
    func takeOver(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            try state(in: file(account)).takeOver { $0.counted($1) }
        }
    }

    /// Replaces an account's record, durably; what is on disk afterwards.
    ///
    /// Another process may have been quicker: its record stays when its envelope is newer, and a record that was
    /// removed meanwhile, or whose wipe has begun, is not brought back (nil). What is no news changes only the registration that it is about, and only
    /// where the last one written is known, here or on disk: none that was put back becomes the newest.
    ///
    /// - Parameters:
    ///   - isNews: Whether the service has just sent the record.
    ///   - edit: What alone is new in the record; what another process has noted beside it stays.
    func save(
        _ record: RegistrationRecord, isNews: Bool, changing edit: ((inout RegistrationRecord) -> Void)? = nil
    ) throws(ProtectionError) -> (record: RegistrationRecord, isCounted: Bool, isDiskFull: Bool)? {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            let state = state(in: file(record.account.id))
            let found = try state.look()
            let stored = Self.record(in: found)
            if stored?.wipe != nil { return nil }
            if stored == nil, record.generation > 0 {
                switch found.contents {
                case .absent, .newer, .value, .doubtful(.removed): return nil
                // What was taken away or damaged from outside is made anew by what the service has just sent.
                case .doubtful: if !isNews { return nil }
                }
            }
            var new = record
            if let stored, stored.registrationID != record.registrationID {
                if !isNews { return nil }
            } else if let stored {
                if case .doubtful = found.contents {
                    if !isNews, record.generation < found.generation { return nil }
                } else if let edit {
                    new = stored
                    edit(&new)
                } else {
                    // An exchange says nothing of these, which may have been noted while it was under way.
                    (new.evidence, new.lastEventID) = (stored.evidence, stored.lastEventID)
                    // Another process was answered under a newer key set; without news its answer says the same.
                    if !isNews, new.keys.version < stored.keys.version { return (stored, true, false) }
                }
                if new.sequence < stored.sequence { return (stored, true, false) }
            }
            let floor = max(stored?.generation ?? 0, record.generation, noted(record.account.id))
            let written = try state.write(above: floor, over: found) { [new] in new.counted($0) }
            return (written.value, written.isCounted, written.isDiskFull)
        }
    }

    /// Notes in an account's record that a wipe of it has begun; false where the registration has ended, or there never was one.
    ///
    /// A record that was put aside, or damaged, is older than the note when it comes back.
    ///
    /// - Parameter known: The registration as the wipe has it, for where the stored one cannot be had.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`, also where a newer version has written the record.
    func note(_ wipe: BegunWipe, of known: RegistrationRecord) throws(ProtectionError) -> Bool {
        let account = known.account.id
        return try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            let state = state(in: file(account))
            let found = try state.look()
            let stored = Self.record(in: found)
            guard stored?.wipe == nil else { return true }
            if stored == nil {
                switch found.contents {
                case .absent: return false
                case .newer: throw ProtectionError(.stateUnwritable, "a newer version wrote the registration")
                case .value, .doubtful: break
                }
            }
            let former = stored ?? known
            _ = try state.write(above: max(former.generation, noted(account))) { generation in
                var record = former.counted(generation)
                record.wipe = wipe
                return record
            }
            return true
        }
    }

    /// Removes an account's record; a missing one is no error.
    func remove(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            try state(in: file(account)).remove()
        }
    }

    /// The generation that a version before has noted of an account; 0 if unknown.
    private func noted(_ account: AccountID) -> Int64 {
        let noted = (try? seal.counter.value(of: FolderName.of(account))) ?? 0
        return noted < 1 << 53 ? noted : 0
    }

    private func isOlderThanNoted(_ record: RegistrationRecord) -> Bool {
        do { return try record.generation < seal.counter.value(of: FolderName.of(record.account.id)) } catch {
            return true
        }
    }

    private func state(in file: StateFile) -> SealedState<RegistrationRecord> {
        SealedState(file: file, purpose: "registration", seal: seal, former: .json)
    }

    private func file(_ account: AccountID) -> StateFile {
        folder.file(FolderName.of(account))
    }
}

extension RegistrationRecord {
    /// The record as it is stored under a generation.
    fileprivate func counted(_ generation: Int64) -> RegistrationRecord {
        var record = self
        record.version = StateFormat.current
        record.generation = generation
        return record
    }
}
