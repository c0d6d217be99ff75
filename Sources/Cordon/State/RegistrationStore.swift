internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The registrations of this app on disk, one file each, named by a hash of the account so that no file name tells who it is.
struct RegistrationStore: Sendable {
    let folder: URL

    /// Opens the folder, making it where needed.
    init(folder: URL) throws(ProtectionError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ProtectionError(.stateUnwritable, "the data folder cannot be made")
        }
        self.folder = folder
    }

    /// Every record that can be read; what cannot is set aside under another name and counted.
    func load() throws(ProtectionError) -> (records: [RegistrationRecord], setAside: Int) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var records: [RegistrationRecord] = []
        var setAside = 0
        for name in names.sorted() where name.hasSuffix(".json") {
            let file = StateFile(url: folder.appending(path: name))
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
        StateFile(url: folder.appending(path: FolderName.of(account) + ".json"))
    }
}
