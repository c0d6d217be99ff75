internal import CordonProtocol
internal import Foundation

/// The wipes that are not finished, one file each; the receipt leaves this folder only when the service has it.
struct WipeStore: Sendable {
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

    /// Every unfinished wipe, oldest first.
    ///
    /// - Throws: ``ProtectionError`` when one cannot be read: going on without it could leave data behind.
    func load() throws(ProtectionError) -> [WipeRecord] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var records: [WipeRecord] = []
        for name in names where name.hasSuffix(".json") {
            guard let bytes = try StateFile(url: folder.appending(path: name)).read() else { continue }
            guard let record = try? MessageCoding.decode(WipeRecord.self, from: bytes) else {
                throw ProtectionError(.stateUnreadable, "an unfinished wipe cannot be read")
            }
            records.append(record)
        }
        return records.sorted { $0.started < $1.started }
    }

    /// Replaces a record, durably.
    func save(_ record: WipeRecord) throws(ProtectionError) {
        guard let bytes = try? MessageCoding.encode(record) else {
            throw ProtectionError(.stateUnwritable, "the wipe has no JSON form")
        }
        try file(record.command.id).write(bytes)
    }

    /// Forgets a finished wipe.
    func remove(_ record: WipeRecord) throws(ProtectionError) {
        try file(record.command.id).remove()
    }

    private func file(_ commandID: String) -> StateFile {
        StateFile(url: folder.appending(path: FolderName.hash(commandID) + ".json"))
    }
}
