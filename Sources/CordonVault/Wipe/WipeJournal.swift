internal import CordonIdentity
internal import Foundation

/// A wipe's progress on disk, a file per account in the vault's directory: rewritten whole after every step, so that a
/// kill leaves the old or the new state. It becomes the report, which stays until the caller has taken it.
///
/// A file is the journal's JSON, a line feed, and a message code of the JSON under a key of the device. A process without that key can ask
/// for a wipe by a journal, and cannot say that any of it is done.
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

    /// A journal that this device wrote; nil when there is none or it cannot be read, which a resumed wipe treats as one not begun.
    static func read(_ path: URL, by secrets: AccountSecrets) -> WipeJournal? {
        guard let bytes = try? PosixFile.contents(path.path, limit: longest), let end = bytes.lastIndex(of: lineFeed),
            let code = try? secrets.code(ofJournal: Array(bytes[..<end])),
            code == String(decoding: bytes[(end + 1)...], as: UTF8.self)
        else { return nil }
        return try? JSONDecoder().decode(WipeJournal.self, from: Data(bytes[..<end]))
    }

    /// Whose wipe a journal is about. That a wipe was asked for is believed without a code too: earlier software wrote none.
    static func account(in path: URL) -> AccountID? {
        guard let bytes = try? PosixFile.contents(path.path, limit: longest),
            let text = bytes.split(separator: lineFeed, maxSplits: 1).first
        else { return nil }
        return (try? JSONDecoder().decode(Claim.self, from: Data(text)))?.report.account
    }

    private struct Claim: Decodable {
        struct Report: Decodable { let account: AccountID }
        let report: Report
    }

    private static let longest = 1 << 22
    private static let lineFeed = UInt8(ascii: "\n")

    /// Makes this state durable.
    func write(in directory: URL, by secrets: AccountSecrets) throws(VaultError) {
        let text = try encoded()
        let code = Array(try secrets.code(ofJournal: text).utf8)
        try PosixFile.replace(
            Self.path(for: report.account, in: directory).path, with: text + [Self.lineFeed] + code)
    }

    /// Turns the journal into the report that waits to be taken.
    func finish(in directory: URL, by secrets: AccountSecrets) throws(VaultError) {
        try write(in: directory, by: secrets)
        let path = Self.path(for: report.account, in: directory).path
        try PosixFile.rename(path, to: Self.reportPath(for: report.account, in: directory).path)
        try PosixFile.syncDirectory(directory.appendingPathComponent("wipes").path)
    }

    /// Whether the wipe began with the key of this id, or that is not known.
    func isAbout(_ keyID: [UInt8]) -> Bool {
        if result(of: WipeStep.Kind.keyDestroyed.rawValue) != nil { return hasDestroyed(keyID) }
        return askedKeyID.map { $0 == keyID.hex } ?? true
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
