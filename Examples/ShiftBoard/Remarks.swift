import Cordon
import CordonIdentity
import CordonVault
import Foundation

/// The remarks of one session: buffers of a vault whose key ends with the session, in a folder of their own.
struct Remarks {
    private let session: UInt64
    private let account: AccountID
    private let folder: URL
    private let vault: Vault

    init(account: AccountID, session: UInt64, below home: URL, keys: SessionKeyStore) throws {
        self.session = session
        self.account = account
        folder = Self.folder(of: session, below: home)
        vault = try Vault(directory: folder.appending(path: "vault"), keyStore: keys)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "remarks"), withIntermediateDirectories: true)
    }

    /// Whether they are of the person who has the shift; a broker that lost its state may give a number out again.
    func isOf(_ now: CurrentAccount) -> Bool { session == now.session && account == now.current?.id }

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

    /// Removes everything of a session; one that left nothing counts as removed.
    static func remove(session: UInt64, below home: URL) throws {
        let folder = folder(of: session, below: home)
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.removeItem(at: folder)
    }

    private func unlock() async throws {
        if !(await vault.isUnlocked(account)) { try await vault.createAccountKey(for: account) }
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "remarks").path).sorted()
    }

    private static func folder(of session: UInt64, below home: URL) -> URL {
        home.appending(path: "sessions/\(session)", directoryHint: .isDirectory)
    }
}
