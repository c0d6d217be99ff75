import Cordon
import CordonIdentity
import CordonSignIn
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
        try FileManager.default.createDirectory(at: remarks, withIntermediateDirectories: true)
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

    /// Every remark, in order. Others may have put files among them, and none of those keeps the rest from being shown.
    func all() async throws -> [String] {
        try await unlock()
        var texts: [String] = []
        for name in try names().filter(Self.isRemark).sorted() {
            guard let bytes = try contents(of: name) else { continue }
            do {
                // Unprotecting would also take what someone wrote in the person's name without a key.
                texts.append(String(decoding: try await vault.unseal(bytes, of: account), as: UTF8.self))
            } catch {
                guard [.notProtected, .damaged, .wrongKey, .unsupportedFormat].contains(error.code) else { throw error }
                texts.append("(a remark that cannot be read)")
            }
        }
        return texts
    }

    /// Writes one more, over no file that is there.
    func add(_ text: String) async throws {
        try await unlock()
        let sealed = try await vault.protect(Data(text.utf8), for: account)
        guard sealed.count <= Self.largest else {
            throw SignInError(
                .configuration, .invalidParameter, "the text is too long", hint: "Post it in several remarks.")
        }
        let taken = Set(try names())
        guard let number = Self.numbers.first(where: { !taken.contains("\($0)") }) else {
            throw SignInError(
                .configuration, .invalidParameter, "the board is full", hint: "The next shift has an empty one.")
        }
        try sealed.write(to: remarks.appending(path: "\(number)"), options: .atomic)
    }

    /// What remarks are called: numbers of one length, which have one order as texts too.
    private static let numbers = 10_001...99_999
    private static func isRemark(_ name: String) -> Bool {
        name.utf8.count == 5 && Int(name).map(numbers.contains) == true
    }

    /// The most bytes of a remark, sealed.
    private static let largest = 1 << 20

    private var remarks: URL { folder.appending(path: "remarks", directoryHint: .isDirectory) }

    /// A remark's bytes; nil for what the app cannot have written: a folder, a pipe, which would be waited for, or too much.
    private func contents(of name: String) throws -> Data? {
        let file = remarks.appending(path: name)
        var facts = stat()
        guard stat(file.path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= Self.largest else {
            return nil
        }
        return try Data(contentsOf: file)
    }

    /// Removes everything of the sessions up to a number; one that left nothing counts as removed. Earlier ones ended before, and of theirs
    /// is there only what was put back.
    static func remove(upToSession number: UInt64, below home: URL) throws {
        let sessions = sessions(below: home)
        guard FileManager.default.fileExists(atPath: sessions.path) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: sessions.path)
        where UInt64(name.prefix { $0 != "-" }).map({ $0 <= number }) == true {
            try FileManager.default.removeItem(at: sessions.appending(path: name))
        }
    }

    private func unlock() async throws {
        if !(await vault.isUnlocked(account)) { try await vault.createAccountKey(for: account) }
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: remarks.path)
    }

    private static func sessions(below home: URL) -> URL {
        home.appending(path: "sessions", directoryHint: .isDirectory)
    }
}
