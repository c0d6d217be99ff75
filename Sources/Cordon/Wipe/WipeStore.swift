internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The wipes that are not finished, one file each; the receipt leaves this folder only when the service has it.
struct WipeStore: Sendable {
    let folder: StateFolder

    /// Every unfinished wipe, oldest first, and the files that cannot be read.
    func load() throws(ProtectionError) -> (records: [WipeRecord], damaged: [StateFile]) {
        var records: [WipeRecord] = []
        var damaged: [StateFile] = []
        for file in try folder.files() {
            guard let bytes = try file.read() else { continue }
            if case .read(let record) = StateFormat.read(WipeRecord.self, from: bytes) {
                records.append(record)
            } else {
                damaged.append(file)
            }
        }
        return (records.sorted { $0.started < $1.started }, damaged)
    }

    /// The wipe of an account that has begun and is not finished.
    func unfinished(of account: AccountID) throws(ProtectionError) -> WipeRecord? {
        try load().records.first { $0.registration.account.id == account && $0.stage != .forgotten }
    }

    /// The accounts with a wipe that is not finished.
    func unfinishedAccounts() throws(ProtectionError) -> Set<AccountID> {
        Set(try load().records.filter { $0.stage != .forgotten }.map(\.registration.account.id))
    }

    /// The file that is locked while an account is wiped; accounts do not wait for one another.
    func lock(of account: AccountID) -> URL { folder.lock(for: FolderName.of(account)) }

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
