internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The registrations of this app on disk, one file each, named by a hash of the account so that no file name tells who it is.
struct RegistrationStore: Sendable {
    let folder: StateFolder

    /// Every record that can be read; what cannot is set aside under another name and counted.
    func load() throws(ProtectionError) -> (records: [RegistrationRecord], setAside: Int) {
        var records: [RegistrationRecord] = []
        var setAside = 0
        for file in folder.files {
            guard let bytes = try file.read() else { continue }
            if let record = try? MessageCoding.decode(RegistrationRecord.self, from: bytes),
                self.file(record.account.id).url == file.url
            {
                records.append(record)
            } else {
                setAside += 1
                _ = rename(file.url.path, file.url.appendingPathExtension("damaged").path)
            }
        }
        return (records, setAside)
    }

    /// Replaces an account's record, durably.
    func save(_ record: RegistrationRecord) throws(ProtectionError) {
        guard let bytes = try? MessageCoding.encode(record) else {
            throw ProtectionError(.stateUnwritable, "the registration has no JSON form")
        }
        try file(record.account.id).write(bytes)
    }

    /// Removes an account's record; a missing one is no error.
    func remove(_ account: AccountID) throws(ProtectionError) {
        try file(account).remove()
    }

    private func file(_ account: AccountID) -> StateFile {
        folder.file(FolderName.of(account))
    }
}
