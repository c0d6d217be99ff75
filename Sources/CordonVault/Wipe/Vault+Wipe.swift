public import CordonIdentity
internal import Foundation

extension Vault {
    /// Adds a step to every wipe from now on, after the vault's own; the same name again replaces it.
    public func attach(_ attachment: WipeAttachment) {
        attachments.removeAll { $0.name == attachment.name }
        attachments.append(attachment)
    }

    /// Removes everything of an account, its key first; other accounts' files are not touched (SDK-SW-06).
    ///
    /// Once the key is gone the wipe always ends, here or in ``resumeWipes(observer:)``; what could not be removed is in
    /// the report, and readable files that stayed keep their owner, so that the next wipe tries again. The report stays on
    /// disk until ``discardReport(for:)``. An account without a key is wiped all the same. A resumed wipe leaves a key
    /// alone that another app of the group has made since it began.
    ///
    /// - Parameter observer: told of each step after it was done, on the vault's executor.
    /// - Throws: `wipePending` when a wipe of the account runs already in this process; ``VaultError`` when the key's
    ///   record or the journal cannot be written: the wipe is then pending.
    public func wipe(
        _ account: AccountID, observer: @escaping @Sendable (WipeStep) -> Void = { _ in }
    ) async throws(VaultError) -> WipeReport {
        guard wipesUnderWay.insert(account).inserted else {
            throw VaultError(.wipePending, "A wipe of the account is under way.")
        }
        defer { wipesUnderWay.remove(account) }
        observer(WipeStep(.begun))
        var journal = try destroyKey(of: account, observer)
        try removeOwnFiles(&journal, observer)
        for name in journal.attachments { try await run(name, &journal, observer) }
        journal.report.finished = clock()
        try journal.finish(in: directory)
        observer(WipeStep(.finished))
        return journal.report
    }

    /// Wipes that began, here or in an earlier life of the app, and are not finished.
    ///
    /// - Throws: ``VaultError`` when the vault's directories cannot be read.
    public func pendingWipes() throws(VaultError) -> [PendingWipe] {
        var found: [AccountID: PendingWipe] = [:]
        for record in try keyRecords() where record.isWipe {
            found[record.account] = PendingWipe(account: record.account, started: nil)
        }
        for journal in journals(suffix: ".json") {
            let report = journal.report
            found[report.account] = PendingWipe(account: report.account, started: report.started)
        }
        return found.values.sorted { $0.account.fileName < $1.account.fileName }
    }

    /// Finishes every pending wipe; call it at each start, after the attachments were attached.
    ///
    /// - Throws: ``VaultError`` of the first one that cannot go on; it and later ones stay pending.
    public func resumeWipes(
        observer: @escaping @Sendable (WipeStep) -> Void = { _ in }
    ) async throws(VaultError) -> [WipeReport] {
        var reports: [WipeReport] = []
        for pending in try pendingWipes() where !wipesUnderWay.contains(pending.account) {
            reports.append(try await wipe(pending.account, observer: observer))
        }
        return reports
    }

    /// Reports of finished wipes that nobody has discarded yet.
    public func finishedReports() -> [WipeReport] {
        journals(suffix: ".report").map(\.report)
    }

    /// Forgets a finished wipe's report; call it once the receipt is on its way.
    ///
    /// - Throws: ``VaultError`` when the report stays.
    public func discardReport(for account: AccountID) throws(VaultError) {
        let path = WipeJournal.reportPath(for: account, in: directory).path
        guard !PosixFile.remove(path), errno != ENOENT else { return }
        throw .system("unlink", path)
    }

    private func journals(suffix: String) -> [WipeJournal] {
        let folder = directory.appendingPathComponent("wipes")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().filter { $0.hasSuffix(suffix) }
            .compactMap { WipeJournal.read(folder.appendingPathComponent($0)) }
    }

    // MARK: The key

    /// Overwrites the key's record with the note that a wipe began, which is the one write that matters; then the
    /// journal takes the note's place and the record is unlinked.
    private func destroyKey(
        of account: AccountID, _ observer: @Sendable (WipeStep) -> Void
    ) throws(VaultError) -> WipeJournal {
        let path = keyPath(account)
        var journal =
            WipeJournal.read(WipeJournal.path(for: account, in: directory))
            ?? WipeJournal(
                report: WipeReport(account: account, started: clock()), attachments: attachments.map(\.name))
        // A resumed wipe also runs what was attached since it began.
        for name in attachments.map(\.name) where !journal.attachments.contains(name) {
            journal.attachments.append(name)
        }
        // A journal is written after the key is gone. What lies there by now is what a killed wipe left, or a key that
        // another app of the group has made since, which this wipe does not mean.
        let isResumed = journal.result(of: WipeStep.Kind.keyDestroyed.rawValue) != nil
        var keyID: [UInt8]?
        var isNewer = false
        if let file = try PosixFile.open(path, writing: true, ifExists: true) {
            defer { file.close() }
            let memory = RawMemory(AccountKeyRecord.size)
            let count = try file.read(memory.slice(0, AccountKeyRecord.size), at: 0)
            let known = try? AccountKeyRecord.identify(memory.array(0, count))
            isNewer = isResumed && known.map { !$0.isWipe && !journal.hasDestroyed($0.keyID) } ?? false
            if !isNewer { keyID = known?.keyID ?? [UInt8](repeating: 0, count: 16) }
            if !isNewer, known?.isWipe != true {
                try file.write(try AccountKeyRecord.wipeNote(account, keyID: keyID ?? []), at: 0)
                try file.sync()
            }
        }
        drop(account, because: VaultError(.wiped, "The account's data was wiped."))
        observer(WipeStep(.keyDestroyed))
        if let id = keyID?.hex, !journal.report.destroyedKeyIDs.contains(id) {
            journal.report.destroyedKeyIDs.append(id)
        }
        if journal.result(of: WipeStep.Kind.keyDestroyed.rawValue) == nil {
            journal.report.steps.append(.init(name: WipeStep.Kind.keyDestroyed.rawValue))
        }
        try journal.write(in: directory)
        observer(WipeStep(.journalWritten))
        if !isNewer { PosixFile.remove(path) }
        try PosixFile.syncDirectory(keyDirectory.path)
        observer(WipeStep(.keyRecordRemoved))
        return journal
    }

    // MARK: What the vault keeps

    private func removeOwnFiles(
        _ journal: inout WipeJournal, _ observer: @Sendable (WipeStep) -> Void
    ) throws(VaultError) {
        let account = journal.report.account
        let (noted, unread) = register.notes(of: account)
        try remove(.filesRemoved, \.files, &journal, files(ownedBy: account), unread, observer)
        // What is still there keeps its owner: a later wipe finds it by that.
        for path in noted where PosixFile.isAbsent(path.path) { try? register.setOwner(nil, of: path) }
        let caches = Self.contents(of: cacheDirectory(for: account))
        try remove(.cachesRemoved, \.caches, &journal, caches, nil, observer)
        let temporary = Self.contents(of: temporaryDirectory(for: account))
        try remove(.temporaryFilesRemoved, \.temporaryFiles, &journal, temporary, nil, observer)
    }

    private func remove(
        _ kind: WipeStep.Kind, _ count: WritableKeyPath<WipeReport, Int>, _ journal: inout WipeJournal, _ paths: [URL],
        _ unread: VaultError?, _ observer: @Sendable (WipeStep) -> Void
    ) throws(VaultError) {
        if journal.result(of: kind.rawValue)?.failure == nil, journal.result(of: kind.rawValue) != nil { return }
        let failure = try removePaths(kind.rawValue, count, &journal, paths) {
            if kind == .filesRemoved { observer(WipeStep(.fileRemoved)) }
        }
        try note(kind.rawValue, failure ?? unread.map { _ in Self.unreadNotes }, &journal)
        observer(WipeStep(kind))
    }

    private static let unreadNotes = "The notes of readable files' owners could not all be read."

    /// Removes paths and counts what the plan said; what is left is a failure.
    private func removePaths(
        _ step: String, _ count: WritableKeyPath<WipeReport, Int>, _ journal: inout WipeJournal, _ paths: [URL],
        _ removed: () -> Void
    ) throws(VaultError) -> String? {
        let files = paths.filter { !Self.isDirectory($0) }
        if journal.planned[step] == nil, !paths.isEmpty {
            let bytes = files.reduce(Int64(0)) { $0 + Self.bytesOnDisk($1) }
            journal.planned[step] = WipeJournal.Plan(files: files.count, bytes: bytes)
            journal.report[keyPath: count] += files.count
            journal.report.bytes += bytes
            // Counted before anything is gone; other steps remove no databases of the vault's.
            if count == \.files { journal.report.databases += files.count { facts(of: $0)?.kind == .database } }
            try journal.write(in: directory)
        }
        if let before = journal.planned[step]?.left {
            journal.report[keyPath: count] += before.files
            journal.report.bytes += before.bytes
        }
        var left = WipeJournal.Left()
        for path in files {
            PosixFile.remove(path.path)
            if !PosixFile.isAbsent(path.path) {
                left.files += 1
                left.bytes += Self.bytesOnDisk(path)
            }
            removed()
        }
        let directories = paths.filter { Self.isDirectory($0) }
        for path in directories {
            try? FileManager.default.removeItem(at: path)
            removed()
        }
        for parent in Set(paths.map { $0.deletingLastPathComponent().path }).sorted() {
            try? PosixFile.syncDirectory(parent)
        }
        if let plan = journal.planned[step] {
            left = WipeJournal.Left(files: min(left.files, plan.files), bytes: min(left.bytes, plan.bytes))
            journal.planned[step]?.left = left
            journal.report[keyPath: count] -= left.files
            journal.report.bytes -= left.bytes
        }
        let remaining = (files + directories).count { !PosixFile.isAbsent($0.path) }
        return remaining == 0 ? nil : "\(remaining) could not be removed"
    }

    private func note(_ step: String, _ failure: String?, _ journal: inout WipeJournal) throws(VaultError) {
        journal.report.steps.removeAll { $0.name == step }
        journal.report.steps.append(.init(name: step, failure: failure))
        try journal.write(in: directory)
    }

    // MARK: What others attached

    private func run(
        _ name: String, _ journal: inout WipeJournal, _ observer: @Sendable (WipeStep) -> Void
    ) async throws(VaultError) {
        if journal.result(of: name)?.failure == nil, journal.result(of: name) != nil { return }
        let account = journal.report.account
        var failure: String?
        switch attachments.first(where: { $0.name == name })?.action {
        case .remove(let paths):
            let roots = paths(account).filter { !PosixFile.isAbsent($0.path) }
            failure = try removePaths(name, \.attachedFiles, &journal, roots.flatMap(Self.contents) + roots) {}
        case .run(let hook):
            switch await hook(account) {
            case .done: break
            case .leaveFilesToCordon:
                let unread = register.notes(of: account).unread.map { _ in Self.unreadNotes }
                failure = try removePaths(name, \.files, &journal, files(ownedBy: account)) {} ?? unread
            case .failed(let reason): failure = reason
            }
        case nil: failure = "The step was not attached when the wipe was resumed."
        }
        try note(name, failure, &journal)
        observer(WipeStep(.attachmentEnded, name))
    }
}
