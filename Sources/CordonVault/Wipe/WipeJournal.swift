internal import CordonIdentity
internal import Foundation

/// A wipe's progress on disk, a file per account in the vault's directory: rewritten whole after every step, so that a
/// kill leaves the old or the new state. It becomes the report, which stays until the caller has taken it.
struct WipeJournal: Codable {
    var report: WipeReport
    var attachments: [String]
    /// The id of the key that was there when the wipe was asked for, empty for none; nil where that could not be told, and in
    /// journals of older versions, which were first written when the key was gone.
    var askedKeyID: String?
    /// What a step has yet to remove, noted before the first removal so that a resumed step does not count again.
    var planned: [String: Plan] = [:]

    struct Plan: Codable {
        var files: Int
        var bytes: Int64
        /// What of it the last attempt left, and took out of the report again.
        var left: Left?
    }

    struct Left: Codable {
        var files = 0
        var bytes: Int64 = 0
    }

    static func path(for account: AccountID, in directory: URL) -> URL {
        directory.appending(path: "wipes/\(account.fileName).json")
    }

    static func reportPath(for account: AccountID, in directory: URL) -> URL {
        directory.appending(path: "wipes/\(account.fileName).report")
    }

    /// Whether a wipe of the account is under way on disk.
    static func exists(for account: AccountID, in directory: URL) -> Bool {
        !PosixFile.isAbsent(path(for: account, in: directory).path)
    }

    /// A journal on disk; nil when there is none or it cannot be read, which a resumed wipe treats as one not begun.
    static func read(_ path: URL) -> WipeJournal? {
        guard let bytes = try? PosixFile.contents(path.path, limit: 1 << 22) else { return nil }
        return try? JSONDecoder().decode(WipeJournal.self, from: Data(bytes))
    }

    /// Makes this state durable.
    func write(in directory: URL) throws(VaultError) {
        try PosixFile.replace(Self.path(for: report.account, in: directory).path, with: try encoded())
    }

    /// Turns the journal into the report that waits to be taken.
    func finish(in directory: URL) throws(VaultError) {
        try write(in: directory)
        let path = Self.path(for: report.account, in: directory).path
        try PosixFile.rename(path, to: Self.reportPath(for: report.account, in: directory).path)
        try PosixFile.syncDirectory(directory.appendingPathComponent("wipes").path)
    }

    /// Whether this wipe destroyed the key with this id.
    func hasDestroyed(_ keyID: [UInt8]) -> Bool { report.destroyedKeyIDs.contains(keyID.hex) }

    /// How a step ended before; nil when it has not.
    func result(of step: String) -> WipeReport.StepResult? { report.steps.first { $0.name == step } }

    private func encoded() throws(VaultError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            throw VaultError(.inputOutput, "The wipe's journal cannot be encoded.")
        }
    }
}
