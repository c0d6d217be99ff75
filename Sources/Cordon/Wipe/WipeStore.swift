internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The wipes that are not finished, one sealed and counted file each; the receipt leaves this folder only when the service has it.
struct WipeStore: Sendable {
    let folder: StateFolder
    let seal: StateSeal

    /// Every unfinished wipe, oldest first, the files that cannot be read, and those that a newer version of the app has written.
    ///
    /// A record that is not the one written last, or that an earlier version left in the clear, says only that a wipe was asked for: it begins
    /// anew. One that was put back after its wipe had ended counts as damaged.
    func load() throws(ProtectionError) -> (records: [WipeRecord], damaged: [StateFile], newer: [StateFile]) {
        var records: [WipeRecord] = []
        var damaged: [StateFile] = []
        var newer: [StateFile] = []
        for file in try folder.files() {
            switch try reading(of: file) {
            case .none: continue
            case .record(let record): records.append(record)
            case .ended:
                // Another process may have begun it anew meanwhile.
                try? StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
                    if case .ended = try reading(of: file) { try file.remove() }
                }
            case .newer: newer.append(file)
            case .damaged: damaged.append(file)
            }
        }
        return (records.sorted { $0.started < $1.started }, damaged, newer)
    }

    /// Puts files aside that cannot be read, each unless another process has written it anew meanwhile.
    func setAside(_ damaged: [StateFile]) {
        for file in damaged {
            _ = file.setAside(under: folder.lock) { () throws(ProtectionError) in
                if case .damaged = try reading(of: file) { false } else { true }
            }
        }
    }

    private enum Reading {
        case none, record(WipeRecord), ended, newer, damaged
    }

    private func reading(of file: StateFile) throws(ProtectionError) -> Reading {
        let found = try state(in: file).look()
        switch (found.contents, found.value) {
        case (.absent, _), (.doubtful(.missing), _): return .none
        case (.newer, _): return .newer
        case (.value(let record), _) where !found.isFormer: return .record(record)
        case (.value, let record?), (.doubtful(.older), let record?), (.doubtful(.uncounted), let record?):
            // A plain one is an earlier version's only while none was counted here; under another name it would never be removed.
            let isForeign = found.isFormer && found.generation > 0 || self.file(of: record).url != file.url
            return isForeign ? .damaged : .record(record.begunAnew)
        case (.doubtful(.removed), let record?) where record.stage == .forgotten: return .ended
        default: return .damaged
        }
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

    /// Replaces a record, durably. A number that cannot be raised keeps no wipe waiting: the record is in doubt then.
    func save(_ record: WipeRecord) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            _ = try state(in: file(of: record)).write { _ in record }
        }
    }

    /// Forgets a finished wipe.
    func remove(_ record: WipeRecord) throws(ProtectionError) { try state(in: file(of: record)).remove() }

    private func file(of record: WipeRecord) -> StateFile { folder.file(FolderName.hash(record.command.id)) }

    private func state(in file: StateFile) -> SealedState<WipeRecord> {
        SealedState(file: file, purpose: "wipe", seal: seal, former: .plain)
    }
}
