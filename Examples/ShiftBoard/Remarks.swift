import Cordon
import CordonIdentity
import CordonVault
import Foundation

/// The remarks of one session: buffers of a vault whose key ends with the session, in a folder of their own.
struct Remarks {
    private let session: Session
    private let account: AccountID
    private let folder: URL
    private let vault: Vault

    init(account: AccountID, session: Session, below home: URL, keys: SessionKeyStore) throws {
        self.session = session
        self.account = account
        folder = Self.sessions(below: home).appending(path: session.name, directoryHint: .isDirectory)
        vault = try Vault(directory: folder.appending(path: "vault"), keyStore: keys)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "remarks"), withIntermediateDirectories: true)
    }

    /// A session by its number and what is its own alone: with a broker that lost its state, numbers might come again, and what is left
    /// of the earlier session must not keep the next person out.
    struct Session: Equatable {
        let number: UInt64
        /// Nil from a broker of a version before.
        let nonce: String?

        init(_ now: CurrentAccount) {
            number = now.session
            nonce = now.nonce
        }

        /// What its folder is called.
        fileprivate var name: String { nonce.map { "\(number)-\($0)" } ?? "\(number)" }
    }

    /// Whether they are of the person who has the shift.
    func isOf(_ now: CurrentAccount) -> Bool { session == Session(now) && account == now.current?.id }

    /// Every remark, in order.
    func all() async throws -> [String] {
        try await unlock()
        var texts: [String] = []
        for name in try names() {
            let bytes = try Data(contentsOf: folder.appending(path: "remarks/\(name)"))
            texts.append(String(decoding: try await vault.unprotect(bytes, demanding: true), as: UTF8.self))
        }
        return texts
    }

    /// Writes one more.
    func add(_ text: String) async throws {
        try await unlock()
        let sealed = try await vault.protect(Data(text.utf8), for: account)
        let number = (try names().last.flatMap { Int($0) } ?? 10_000) + 1
        try sealed.write(to: folder.appending(path: "remarks/\(number)"), options: .atomic)
    }

    /// Removes everything of the sessions with a number; one that left nothing counts as removed.
    static func remove(session number: UInt64, below home: URL) throws {
        let sessions = sessions(below: home)
        guard FileManager.default.fileExists(atPath: sessions.path) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: sessions.path)
        where name == "\(number)" || name.hasPrefix("\(number)-") {
            try FileManager.default.removeItem(at: sessions.appending(path: name))
        }
    }

    private func unlock() async throws {
        if !(await vault.isUnlocked(account)) { try await vault.createAccountKey(for: account) }
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "remarks").path).sorted()
    }

    private static func sessions(below home: URL) -> URL {
        home.appending(path: "sessions", directoryHint: .isDirectory)
    }
}
