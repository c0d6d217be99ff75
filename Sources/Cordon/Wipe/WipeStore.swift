internal import CordonProtocol
internal import Foundation

/// The wipes that are not finished, one file each; the receipt leaves this folder only when the service has it.
struct WipeStore: Sendable {
    let folder: StateFolder

    /// Every unfinished wipe, oldest first.
    ///
    /// - Throws: ``ProtectionError`` when one cannot be read: going on without it could leave data behind.
    func load() throws(ProtectionError) -> [WipeRecord] {
        var records: [WipeRecord] = []
        for file in folder.files {
            guard let bytes = try file.read() else { continue }
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
        try folder.file(FolderName.hash(record.command.id)).write(bytes)
    }

    /// Forgets a finished wipe.
    func remove(_ record: WipeRecord) throws(ProtectionError) {
        try folder.file(FolderName.hash(record.command.id)).remove()
    }
}
