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
        /// How many were damaged and put aside under another name.
        var damaged = 0
        /// How many a newer version of the app wrote; they are left as they are.
        var newer = 0
        /// The records that a version before has stored plain.
        var plain: [RegistrationRecord] = []
    }

    /// Everything there is.
    func load() throws(ProtectionError) -> Contents {
        var contents = Contents()
        for file in try folder.files() {
            guard let bytes = try file.read() else { continue }
            let (reading, isPlain) = try seal.read(RegistrationRecord.self, from: bytes, of: file)
            switch reading {
            case .read(let record) where record.isPlausible && self.file(record.account.id).url == file.url:
                contents.records.append(record)
                if isPlain { contents.plain.append(record) }
            case .newer: contents.newer += 1
            case .read, .damaged:
                contents.damaged += 1
                file.setAside()
            }
        }
        return contents
    }

    /// The record of an account, nil where there is none that can be read.
    func record(of account: AccountID) throws(ProtectionError) -> RegistrationRecord? {
        let file = file(account)
        guard let bytes = try file.read() else { return nil }
        guard case .read(let record) = try seal.read(RegistrationRecord.self, from: bytes, of: file).contents,
            record.isPlausible
        else { return nil }
        return record
    }

    /// Seals the record of an account that a version before has stored plain, as it is.
    func sealPlain(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            guard let record = try self.record(of: account) else { return }
            let file = file(account)
            try file.write(try seal.bytes(record, for: file))
        }
    }

    /// Replaces an account's record, durably; what is on disk afterwards.
    ///
    /// Another process may have been quicker: its record stays when its envelope is newer, and a record that was
    /// removed meanwhile is not brought back (nil).
    ///
    /// - Parameter generation: What the record's generation is to be above, besides that of the one on disk.
    func save(
        _ record: RegistrationRecord, above generation: Int64 = 0
    ) throws(ProtectionError) -> RegistrationRecord? {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            let stored = try self.record(of: record.account.id)
            if let stored, stored.registrationID == record.registrationID, stored.sequence > record.sequence {
                return stored
            }
            if stored == nil, record.generation > 0 { return nil }
            var next = record
            next.version = StateFormat.current
            next.generation = min(max(stored?.generation ?? 0, record.generation, generation), .max - 1) + 1
            let file = file(record.account.id)
            try file.write(try seal.bytes(next, for: file))
            seal.noteSealed()
            return next
        }
    }

    /// Removes an account's record; a missing one is no error.
    func remove(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in try file(account).remove() }
    }

    private func file(_ account: AccountID) -> StateFile {
        folder.file(FolderName.of(account))
    }
}
