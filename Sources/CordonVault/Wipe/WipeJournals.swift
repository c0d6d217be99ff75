internal import CordonBase
internal import CordonIdentity
internal import Foundation

/// The journals of a vault's wipes on disk, and the reports that they become.
///
/// A file is the journal's JSON, a line feed, and a message code of the JSON under a key of the device. A process without that key can ask
/// for a wipe by a journal, and cannot say that any of it is done.
struct WipeJournals: Sendable {
    private let folder: URL
    private let secrets: AccountSecrets

    private static let longest = 1 << 22
    private static let lineFeed = UInt8(ascii: "\n")

    /// - Parameter directory: The vault's.
    init(in directory: URL, secrets: AccountSecrets) {
        folder = directory.appending(path: "wipes")
        self.secrets = secrets
    }

    /// Makes the folder.
    func prepare() throws(VaultError) { try PosixFile.makeDirectory(folder.path, following: false) }

    /// Where the journal of an account's unfinished wipe lies.
    func path(for account: AccountID) -> URL { folder.appending(path: "\(account.fileName).json") }

    /// Where the report of an account's last wipe lies.
    func reportPath(for account: AccountID) -> URL { folder.appending(path: "\(account.fileName).report") }

    /// What the one who wipes an account holds.
    func lockPath(for account: AccountID) -> URL { folder.appending(path: "\(account.fileName).lock") }

    // MARK: One at a time

    /// Takes the lock of an account's wipes among all vaults of the folder, in every process; its `end()` removes the file. Nil where there can
    /// be none, as on a full disk: no wipe waits for that.
    ///
    /// - Throws: `wipePending` when another vault has it.
    func lock(of account: AccountID) throws(VaultError) -> AdvisoryLock? {
        let lock: AdvisoryLock?
        do { lock = try AdvisoryLock.take(lockPath(for: account)) } catch { return nil }
        guard let lock else { throw VaultError(.wipePending, "Another process wipes the account.") }
        return lock
    }

    // MARK: Reading

    /// Whether a wipe of the account is under way on disk, also where that cannot be read just now; anything else in the journal's place
    /// counts as no wipe.
    func exists(for account: AccountID) -> Bool {
        // Out of descriptors the system opens nothing, not even what is not there.
        if PosixFile.isAbsent(path(for: account).path) { return false }
        do { return try claimedAccount(in: path(for: account)) == account } catch {
            return error.code == .inputOutput || error.code == .inUse
        }
    }

    /// The journal of an account's unfinished wipe that this device wrote; nil when there is none or it cannot be read, which a resumed wipe
    /// treats as one not begun.
    func journal(of account: AccountID) -> WipeJournal? { read(path(for: account), of: account) }

    /// What this device wrote of the one wipe with this binding, also where it has become the report already; nil when there is nothing.
    func journal(of account: AccountID, boundTo binding: String) -> WipeJournal? {
        for path in [path(for: account), reportPath(for: account)] {
            guard var journal = read(path, of: account), journal.binding == binding else { continue }
            journal.report.finished = nil
            return journal
        }
        return nil
    }

    private func read(_ path: URL, of account: AccountID) -> WipeJournal? {
        guard let journal = read(path), journal.report.account == account else { return nil }
        return journal
    }

    /// The wipes that journals say have begun. That a wipe was asked for is believed without a code too: earlier software wrote none.
    ///
    /// - Throws: ``VaultError`` when the folder cannot be read.
    func pending() throws(VaultError) -> [PendingWipe] {
        try files(suffix: ".json").compactMap { path in
            guard let account = try? claimedAccount(in: path), path == self.path(for: account) else { return nil }
            return PendingWipe(account: account, started: read(path)?.report.started)
        }
    }

    /// What finished wipes have reported and the app has not discarded yet.
    func reports() -> [WipeReport] {
        ((try? files(suffix: ".report")) ?? []).compactMap { path in
            guard let report = read(path)?.report, path == reportPath(for: report.account) else { return nil }
            return report
        }
    }

    private func files(suffix: String) throws(VaultError) -> [URL] {
        // What is no folder holds no journal, and keeps nobody from a wipe that a record tells of.
        guard PosixFile.isAbsent(folder.path) || folder.isDirectory else { return [] }
        let names = try PosixFile.names(in: folder.path)
        return names.sorted().filter { $0.hasSuffix(suffix) }.map { folder.appending(path: $0) }
    }

    private func read(_ path: URL) -> WipeJournal? {
        guard let bytes = try? contents(of: path),
            let end = bytes.lastIndex(of: Self.lineFeed),
            let code = try? secrets.code(ofJournal: Array(bytes[..<end])),
            code == String(decoding: bytes[(end + 1)...], as: UTF8.self)
        else { return nil }
        let journal = try? JSONDecoder().decode(WipeJournal.self, from: Data(bytes[..<end]))
        return journal.flatMap { $0.isPlausible ? $0 : nil }
    }

    private func claimedAccount(in path: URL) throws(VaultError) -> AccountID? {
        guard let bytes = try contents(of: path),
            let text = bytes.split(separator: Self.lineFeed, maxSplits: 1).first
        else { return nil }
        return (try? JSONDecoder().decode(Claim.self, from: Data(text)))?.report.account
    }

    /// The bytes of a file in the folder. One that its mode keeps from its owner would close the account, and no wipe would ever take its place.
    private func contents(of path: URL) throws(VaultError) -> [UInt8]? {
        do { return try PosixFile.contents(path.path, limit: Self.longest) } catch {
            guard PosixFile.openUp(path.path) else { throw error }
            return try PosixFile.contents(path.path, limit: Self.longest)
        }
    }

    private struct Claim: Decodable {
        struct Report: Decodable { let account: AccountID }
        let report: Report
    }

    // MARK: Writing

    /// Makes a journal's state durable, in place of the former one.
    func write(_ journal: WipeJournal) throws(VaultError) {
        let text: [UInt8]
        do {
            text = Array(try JSONEncoder().encode(journal))
        } catch {
            throw VaultError(.inputOutput, "The wipe's journal cannot be encoded.")
        }
        let code = Array(try secrets.code(ofJournal: text).utf8)
        try PosixFile.replace(path(for: journal.report.account).path, with: text + [Self.lineFeed] + code)
    }

    /// Turns a journal into the report that waits to be taken.
    func finish(_ journal: WipeJournal) throws(VaultError) {
        try write(journal)
        let account = journal.report.account
        try PosixFile.rename(path(for: account).path, to: reportPath(for: account).path)
        try PosixFile.syncDirectory(folder.path)
    }

    /// Removes a report, and drafts that kills have left, which say as well whose data was wiped; none is no error.
    func discardReport(for account: AccountID) throws(VaultError) {
        // While a journal exists, a draft may belong to another process's wipe. Discarding the report of that wipe removes the draft.
        if PosixFile.isAbsent(path(for: account).path) {
            try PosixFile.removeDrafts(in: folder.path, of: account.fileName + ".")
        }
        let path = reportPath(for: account).path
        guard !PosixFile.remove(path), errno != ENOENT else { return }
        throw .system("unlink", path)
    }

    /// Removes an account's report and journal, or what lies in their place.
    ///
    /// - Parameter binding: What this device wrote of the wipe with it stays.
    func forget(_ account: AccountID, besides binding: String?) throws(VaultError) {
        for path in [reportPath(for: account), path(for: account)] {
            if let binding, read(path, of: account)?.binding == binding { continue }
            if path.isDirectory { try? FileManager.default.removeItem(at: path) }
            try PosixFile.unlinkIfPresent(path.path)
        }
    }
}
