internal import CordonBase
public import CordonIdentity
internal import Foundation

extension Vault {
    /// Adds a step to every wipe from now on, after the vault's own; the same name again replaces it.
    public func attach(_ attachment: WipeAttachment) { wipes.attach(attachment) }

    /// Removes everything of an account, its key first; other accounts' files are untouched (SDK-SW-06).
    ///
    /// It records the request first; from then on the wipe always completes, here or in ``resumeWipes(observer:)``. The report says what could
    /// not be removed; readable files that stay keep their owner, so that the next wipe tries again. The report stays on
    /// disk until ``discardReport(for:)``. It wipes an account without a key all the same. A resumed wipe leaves a key
    /// alone that another app of the group has made since the wipe began.
    ///
    /// - Parameter observer: told of each step after it was done, on the vault's executor.
    /// - Throws: `wipePending` when a wipe of the account runs already, in this vault or another one of the same directory, in whatever
    ///   process; ``VaultError`` when the key store, the key's record or the journal refuses: the wipe is then pending. After each of them
    ///   nothing of the account is open or in memory here.
    public func wipe(
        _ account: AccountID, observer: @escaping @Sendable (WipeStep) -> Void = { _ in }
    ) async throws(VaultError) -> WipeReport {
        try await wipe(account, boundTo: nil, observer: observer)
    }

    /// Does what ``wipe(_:observer:)`` does, as one wipe that the caller knows by a binding of its own.
    ///
    /// Only what this device noted under the same binding says that something is done already; dates say nothing, since a clock can be set. The
    /// account's secrets are destroyed at every call, also where a report says that they are gone, and the report names no key that this wipe did not destroy.
    ///
    /// - Parameters:
    ///   - binding: Random, and kept where nobody else writes; nil goes on with whatever wipe of the account has begun.
    ///   - endsKeyAlone: Whether it stops, pending, once nothing of the account opens any more.
    package func wipe(
        _ account: AccountID, boundTo binding: String?, endingKeyAlone endsKeyAlone: Bool = false,
        observer: @escaping @Sendable (WipeStep) -> Void = { _ in }
    ) async throws(VaultError) -> WipeReport {
        try await carryOut(account, boundTo: binding, endingKeyAlone: endsKeyAlone, try begin(account), observer)
    }

    /// Makes this vault the only one to wipe an account, until ``carryOut(_:boundTo:endingKeyAlone:_:_:)`` has ended. Two at once would write their
    /// journals over each other's, and the later report would know nothing of what the other one has destroyed.
    ///
    /// - Throws: `wipePending` where another one wipes it.
    private func begin(_ account: AccountID) throws(VaultError) -> AdvisoryLock? {
        guard wipes.begin(account) else { throw VaultError(.wipePending, "A wipe of the account is under way.") }
        do { return try journals.lock(of: account) } catch {
            wipes.end(account)
            keys.drop(account, because: VaultError(.wiped, "Another process wipes the account's data."))
            throw error
        }
    }

    private func carryOut(
        _ account: AccountID, boundTo binding: String?, endingKeyAlone endsKeyAlone: Bool, _ lock: AdvisoryLock?,
        _ observer: @escaping @Sendable (WipeStep) -> Void
    ) async throws(VaultError) -> WipeReport {
        defer {
            lock?.end()
            wipes.end(account)
        }
        observer(WipeStep(.begun))
        var journal = try destroyKey(of: account, boundTo: binding, observer)
        if endsKeyAlone { return journal.report }
        try removeOwnFiles(&journal, observer)
        for name in journal.attachments { try await run(name, &journal, observer) }
        journal.report.finished = clock()
        try journals.finish(journal)
        // Nothing that comes now, a kill either, leaves a lock whose name tells of the account.
        lock?.end()
        observer(WipeStep(.finished))
        return journal.report
    }

    /// Removes everything of an account by a wipe of its own: nothing that was noted of others counts for it, and no report stays.
    ///
    /// - Throws: As ``wipe(_:observer:)``; `keyStore` where a key of the account is there all the same.
    package func wipeAnew(_ account: AccountID) async throws(VaultError) -> WipeReport {
        let binding = SecureRandom.bytes(16).hex
        try forgetWipes(of: account, besides: binding)
        let report = try await wipe(account, boundTo: binding)
        try discardReport(for: account)
        // In a shared folder it is another app's, which was made since.
        if records.isShared { return report }
        guard try !keepsKey(of: account) else {
            throw VaultError(.keyStore, "A key of the account is still there.")
        }
        return report
    }

    /// The wipes that began, in this or an earlier run of the app, and are not finished.
    ///
    /// - Throws: ``VaultError`` when the vault's directories cannot be read.
    public func pendingWipes() throws(VaultError) -> [PendingWipe] {
        let (wipes, unread) = wipesFound()
        if let unread { throw unread }
        return wipes
    }

    /// What ``pendingWipes()`` gives, as far as the vault's directories can be read, and why not, where they cannot: there may be more.
    package func wipesFound() -> (wipes: [PendingWipe], unread: VaultError?) {
        var found: [AccountID: PendingWipe] = [:]
        var unread: VaultError?
        do {
            // A note under another name than its account's would never go.
            for record in try records.claims()
            where record.isWipe && (try? records.holdsWipeNote(of: record.account)) == true {
                found[record.account] = PendingWipe(account: record.account, started: nil)
            }
        } catch { unread = error }
        do {
            for wipe in try journals.pending() { found[wipe.account] = wipe }
        } catch { unread = unread ?? error }
        return (found.values.sorted { $0.account.fileName < $1.account.fileName }, unread)
    }

    /// Finishes every pending wipe; call it at each start, after you have attached the attachments. It passes over those that another process is at.
    ///
    /// - Throws: ``VaultError`` of the first one that cannot go on; it and later ones stay pending. Also when not all of the vault's directories
    ///   can be read, once the known wipes are finished.
    public func resumeWipes(
        observer: @escaping @Sendable (WipeStep) -> Void = { _ in }
    ) async throws(VaultError) -> [WipeReport] {
        var reports: [WipeReport] = []
        let (found, unread) = wipesFound()
        for pending in found where !wipes.isUnderWay(pending.account) {
            if let report = try await resume(pending.account, observer) { reports.append(report) }
        }
        if let unread { throw unread }
        return reports
    }

    /// Finishes a wipe; nil where another process is at it, or has finished it since it was found: the account may have a new key.
    private func resume(
        _ account: AccountID, _ observer: @escaping @Sendable (WipeStep) -> Void
    ) async throws(VaultError) -> WipeReport? {
        let lock: AdvisoryLock?
        do { lock = try begin(account) } catch { return nil }
        guard journals.exists(for: account) || (try? records.holdsWipeNote(of: account)) == true else {
            lock?.end()
            wipes.end(account)
            return nil
        }
        return try await carryOut(account, boundTo: nil, endingKeyAlone: false, lock, observer)
    }

    /// The reports of finished wipes that the app has not discarded yet.
    public func finishedReports() -> [WipeReport] { journals.reports() }

    /// Forgets a finished wipe's report; call it once the receipt is on its way.
    ///
    /// - Throws: ``VaultError`` when the report stays.
    public func discardReport(for account: AccountID) throws(VaultError) {
        try journals.discardReport(for: account)
    }

    /// Has the next wipe of an account begin with nothing done, whatever earlier ones have noted.
    ///
    /// - Parameter binding: What the wipe with it has noted stays; see ``wipe(_:boundTo:observer:)``.
    /// - Throws: ``VaultError`` when what was noted stays.
    package func forgetWipes(of account: AccountID, besides binding: String? = nil) throws(VaultError) {
        guard !wipes.isUnderWay(account) else { return }
        let lock: AdvisoryLock?
        // What another process's wipe has noted is all that a start after a kill knows of it.
        do { lock = try journals.lock(of: account) } catch { return }
        defer { lock?.end() }
        try journals.forget(account, besides: binding)
    }

    // MARK: The key

    /// Notes that a wipe was asked for, ends what is open, and destroys the account's secret in the key store; then the record is
    /// overwritten, which the journal notes, and unlinked.
    private func destroyKey(
        of account: AccountID, boundTo binding: String?, _ observer: @Sendable (WipeStep) -> Void
    ) throws(VaultError) -> WipeJournal {
        let begun = unfinishedJournal(of: account, boundTo: binding)
        var journal =
            begun
            ?? WipeJournal(
                report: WipeReport(account: account, started: clock()), attachments: wipes.attachments.map(\.name),
                askedKeyID: askedKeyID(of: account), binding: binding)
        // A resumed wipe also runs what was attached since it began.
        for name in wipes.attachments.map(\.name) where !journal.attachments.contains(name) {
            journal.attachments.append(name)
        }
        // A full disk may refuse this and still take what is written in place.
        let isNoted = (try? journals.write(journal)) != nil
        keys.drop(account, because: VaultError(.wiped, "The account's data was wiped."))
        observer(WipeStep(.asked))
        let (keyID, isNewer) = try records.exclusively { () throws(VaultError) in
            try destroyKey(of: account, by: journal, isResumed: begun != nil, isNoted: isNoted, observer)
        }
        if let keyID, !journal.report.destroyedKeyIDs.contains(keyID) {
            journal.report.destroyedKeyIDs.append(keyID)
        }
        if journal.result(of: WipeStep.Kind.keyDestroyed.rawValue) == nil {
            journal.report.steps.append(.init(name: WipeStep.Kind.keyDestroyed.rawValue))
        }
        try journals.write(journal)
        observer(WipeStep(.journalWritten))
        if !isNewer { try records.unlinkEnded(account) }
        try records.sync()
        observer(WipeStep(.keyRecordRemoved))
        return journal
    }

    /// Destroys secret and record, unless they are newer than the wipe, and gives the key's id, hexadecimal, zeros where nothing proves it; nil
    /// where there is neither.
    ///
    /// - Parameters:
    ///   - isResumed: Whether the wipe began before; one that begins now means the key that is there, whosever it is.
    ///   - isNoted: Whether a journal says that the wipe has begun; else the record has to say it before anything goes.
    private func destroyKey(
        of account: AccountID, by journal: WipeJournal, isResumed: Bool, isNoted: Bool,
        _ observer: @Sendable (WipeStep) -> Void
    ) throws(VaultError) -> (keyID: String?, isNewer: Bool) {
        let known = (try? records.claim(of: account)) ?? nil
        if isResumed, let known, try isNewer(known, than: journal) { return (nil, true) }
        // In a shared folder, what is there since its secrets went with that step was made since.
        if records.isShared, isResumed, journal.result(of: WipeStep.Kind.keyDestroyed.rawValue) != nil,
            try records.mayBeNewerApps(account)
        {
            return (nil, true)
        }
        // A key whose record is gone ends with its secret.
        let mayHoldKey = (try? records.mayHoldKey(of: account)) ?? false
        // Asked before the secret goes.
        let keyID = provenKeyID(known, in: journal) ?? [UInt8](repeating: 0, count: 16).hex
        var refusal = isNoted ? secretFailure(account, known, observer) : nil
        let isThere = try records.overwrite(account, known)
        if !isNoted { refusal = secretFailure(account, known, observer) }
        try records.removeFormerAndLost(of: account)
        if let refusal { throw refusal }
        observer(WipeStep(.keyDestroyed))
        return (isThere || mayHoldKey ? keyID : nil, false)
    }

    /// The id of the key that the account has, or had when the wipe was asked for, hexadecimal. A record that does not open, such as a copy of an
    /// older one, proves none where a receipt is signed on the report.
    private func provenKeyID(_ known: AccountKeyRecord.Claim?, in journal: WipeJournal) -> String? {
        if let known, journal.binding == nil || (try? records.isInForce(known)) == true { return known.keyID.hex }
        return journal.askedKeyID.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The journal of a wipe that goes on; nil where a wipe begins. One of an earlier wipe that was put back counts for nothing.
    private func unfinishedJournal(of account: AccountID, boundTo binding: String?) -> WipeJournal? {
        let found: WipeJournal?
        if let binding {
            found = journals.journal(of: account, boundTo: binding)
        } else {
            found = journals.journal(of: account)
        }
        // No key comes into memory while a wipe is unfinished.
        guard keys[account] == nil, let journal = found else { return nil }
        guard !records.isShared, let record = (try? records.claim(of: account)) ?? nil else { return journal }
        // Nor does anything make a key in a folder of this vault alone.
        return journal.isAbout(record.keyID) ? journal : nil
    }

    /// What the journal says of the key that is there when the wipe is asked for; nil where that cannot be told. A record that does not open may lie
    /// in another one's place, and a record that is gone beside its secret may come back.
    private func askedKeyID(of account: AccountID) -> String? {
        do {
            if let claim = try records.claim(of: account) {
                return try records.isInForce(claim) ? claim.keyID.hex : nil
            }
            return try records.keepsKey(of: account) ? nil : ""
        } catch { return nil }
    }

    /// Whether another app of the group has made the key since the wipe began. It opens with the store's secret as it is now, and
    /// each key has a secret of its own.
    ///
    /// - Throws: ``VaultError`` where that cannot be told: the wipe waits.
    private func isNewer(_ record: AccountKeyRecord.Claim, than journal: WipeJournal) throws(VaultError) -> Bool {
        guard !record.isWipe else { return false }
        if journal.result(of: WipeStep.Kind.keyDestroyed.rawValue) != nil {
            return !journal.hasDestroyed(record.keyID)
        }
        guard let asked = journal.askedKeyID, asked != record.keyID.hex else { return false }
        return try records.isInForce(record)
    }

    /// Destroys the account's secret, so that no copy of a record opens, and remembers what ended; why not, where that failed.
    private func secretFailure(
        _ account: AccountID, _ known: AccountKeyRecord.Claim?, _ observer: @Sendable (WipeStep) -> Void
    ) -> VaultError? {
        do {
            try records.destroySecrets(of: account, known)
            observer(WipeStep(.secretDestroyed))
            return nil
        } catch { return error }
    }

    // MARK: What the vault keeps

    private func removeOwnFiles(
        _ journal: inout WipeJournal, _ observer: @Sendable (WipeStep) -> Void
    ) throws(VaultError) {
        let account = journal.report.account
        let (noted, unreadNote) = register.notes(of: account)
        var unread = unreadNote
        do { try register.removeDrafts(of: account) } catch { unread = unread ?? error }
        do { try records.removeDrafts(of: account) } catch { unread = unread ?? error }
        // The roots may hold these folders: what lies there under a name that is not UTF-8 must not keep the look at them from being whole.
        for folder in [cacheDirectory(for: account), temporaryDirectory(for: account)] {
            _ = folder.everythingBelow(renaming: true)
        }
        let (paths, unreadFile) = filesFound(of: account)
        try remove(.filesRemoved, \.files, &journal, paths, Self.reason(note: unread, file: unreadFile), observer)
        // What is still there keeps its owner: a later wipe finds it by that.
        register.forget(noted.filter { PosixFile.isAbsent($0.path) || $0.isDirectory })
        let caches = cacheDirectory(for: account).everythingBelow()
        let cachesLeft = Self.reason(note: nil, file: caches.unread)
        try remove(.cachesRemoved, \.caches, &journal, caches.paths, cachesLeft, observer)
        let temporary = temporaryDirectory(for: account).everythingBelow()
        let temporaryLeft = Self.reason(note: nil, file: temporary.unread)
        try remove(.temporaryFilesRemoved, \.temporaryFiles, &journal, temporary.paths, temporaryLeft, observer)
    }

    private func remove(
        _ kind: WipeStep.Kind, _ count: WritableKeyPath<WipeReport, Int>, _ journal: inout WipeJournal, _ paths: [URL],
        _ unread: String?, _ observer: @Sendable (WipeStep) -> Void
    ) throws(VaultError) {
        // What is there is removed, also where the journal says that this was done: it may be one that was put back.
        let result = journal.result(of: kind.rawValue)
        if let result, result.failure == nil, paths.isEmpty, unread == nil { return }
        let failure = try removePaths(kind.rawValue, count, &journal, paths) {
            if kind == .filesRemoved { observer(WipeStep(.fileRemoved)) }
        }
        try note(kind.rawValue, failure ?? unread, &journal)
        observer(WipeStep(kind))
    }

    /// Why a wipe that has removed what it found may have left something.
    private static func reason(note: VaultError?, file: VaultError?) -> String? {
        if note != nil { return "Notes of readable files' owners, or drafts of records, could not all be read." }
        return file.map { _ in "Files or folders could not all be looked at." }
    }

    /// Removes paths and counts what the plan said; what is left is a failure.
    private func removePaths(
        _ step: String, _ count: WritableKeyPath<WipeReport, Int>, _ journal: inout WipeJournal, _ paths: [URL],
        _ removed: () -> Void
    ) throws(VaultError) -> String? {
        let files = paths.filter { !$0.isDirectory }
        // Looked for before anything goes: what the app makes in a place that has become free is its own. A file of the account's is no folder.
        let directories = count == \.files ? [] : paths.filter(\.isDirectory)
        if journal.planned[step] == nil, !paths.isEmpty {
            let bytes = files.reduce(Int64(0)) { $0 + $1.bytesOnDisk }
            journal.planned[step] = WipeJournal.Plan(files: files.count, bytes: bytes)
            journal.report[keyPath: count] += files.count
            journal.report.bytes += bytes
            // Counted before anything is gone; other steps remove no databases of the vault's.
            if count == \.files { journal.report.databases += files.count { facts(of: $0)?.kind == .database } }
            try journals.write(journal)
        }
        if let before = journal.planned[step]?.left {
            journal.report[keyPath: count] += before.files
            journal.report.bytes += before.bytes
        }
        var left = WipeJournal.Left()
        var awaited: Set<String> = []
        // What lies beside a database goes before it, because nothing else tells whose it is.
        for path in files.filter({ $0.databasePath != nil }).reversed() + files.filter({ $0.databasePath == nil }) {
            let isAwaited = awaited.contains(path.path) && isDatabase(path)
            if !isAwaited { PosixFile.remove(path.path) }
            if !PosixFile.isAbsent(path.path) {
                left.files += 1
                left.bytes += path.bytesOnDisk
                if let database = path.databasePath { awaited.insert(database) }
            }
            removed()
        }
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
        let remaining = (files.filter { !$0.isDirectory } + directories).count { !PosixFile.isAbsent($0.path) }
        return remaining == 0 ? nil : "\(remaining) could not be removed"
    }

    /// Whether a file is a database, sealed or readable; also where that cannot be told, so that what lies beside it is found again.
    private func isDatabase(_ path: URL) -> Bool {
        facts(of: path)?.kind == .database || (try? isReadableDatabase(path)) != false
    }

    private func note(_ step: String, _ failure: String?, _ journal: inout WipeJournal) throws(VaultError) {
        journal.report.steps.removeAll { $0.name == step }
        journal.report.steps.append(.init(name: step, failure: failure))
        try journals.write(journal)
    }

    // MARK: What others attached

    private func run(
        _ name: String, _ journal: inout WipeJournal, _ observer: @Sendable (WipeStep) -> Void
    ) async throws(VaultError) {
        if journal.result(of: name)?.failure == nil, journal.result(of: name) != nil { return }
        let account = journal.report.account
        var failure: String?
        switch wipes.action(of: name) {
        case .remove(let paths):
            let roots = paths(account).filter { !PosixFile.isAbsent($0.path) }
            // What could not be listed keeps its folder.
            let below = roots.filter(\.isDirectory).flatMap { $0.everythingBelow().paths }
            failure = try removePaths(name, \.attachedFiles, &journal, below + roots) {}
        case .run(let hook):
            switch await hook(account) {
            case .done: break
            case .leaveFilesToCordon:
                let (paths, unreadFile) = filesFound(of: account)
                failure =
                    try removePaths(name, \.files, &journal, paths) {}
                    ?? Self.reason(note: register.notes(of: account).unread, file: unreadFile)
            case .failed(let reason): failure = reason
            }
        case nil: failure = "The step was not attached when the wipe was resumed."
        }
        try note(name, failure, &journal)
        observer(WipeStep(.attachmentEnded, name))
    }
}
