public import Cordon
internal import CordonBase
public import Foundation

/// Plain copies of sealed files for views of the system that read a path: Quick Look, a player, a thumbnail. They are handed out for as long
/// as something is shown, and taken away when it goes, when the account's gate closes, at a wipe, and at the next start.
///
/// The folder is of mode 0700, and nothing else may lie in it; the app excludes it from backups. Any thread may call.
public final class HandedOutFiles: Sendable {
    private let folder: URL
    private let handed = Locked<[URL: AccountID?]>([:])

    /// Names the folder, and takes away what an app that was killed has left there.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when the folder cannot be made or cleared.
    public init(folder: URL) throws(ProtectionError) {
        self.folder = folder
        do {
            if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ProtectionError(.stateUnwritable, "the folder for handed-out files cannot be cleared")
        }
    }

    /// Writes a plain copy that another program may read until it is taken back.
    ///
    /// - Parameters:
    ///   - name: What it is called; of a path only the last part counts.
    ///   - owner: Whose it is.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public func handOut(_ contents: Data, named name: String, of owner: Identity) throws(ProtectionError) -> URL {
        let own = folder.appending(path: UUID().uuidString)
        let last = name.split(separator: "/").last.map(String.init) ?? ""
        let file = own.appending(path: ["", ".", ".."].contains(last) ? "document" : last)
        do {
            try FileManager.default.createDirectory(
                at: own, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            // Known before it is there, so that a wipe that comes meanwhile finds it.
            handed.withLock { $0[own] = .some(owner.account) }
            try contents.write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            takeBack(file)
            throw ProtectionError(.stateUnwritable, "a copy could not be handed out")
        }
        return file
    }

    /// Takes a copy away, for good; one that is gone is no error.
    public func takeBack(_ file: URL) {
        let own = file.deletingLastPathComponent()
        guard let key = handed.withLock({ handed in handed.keys.first { $0.path == own.path } }) else { return }
        remove(key)
    }

    /// Takes away every copy of one account, or of all.
    public func takeBackAll(of account: AccountID? = nil) {
        let gone = handed.withLock { handed in
            handed.filter { entry in account.map { entry.value == $0 } ?? true }.map(\.key)
        }
        for own in gone { remove(own) }
    }

    /// What an event means for the copies: those of an account whose gate closed or whose data is removed go.
    public func note(_ event: ProtectionEvent) {
        switch event {
        case .gate(let account, .closed), .wipeStarted(let account, _), .wipeFinished(let account, _, _):
            takeBackAll(of: account)
        default: break
        }
    }

    /// How many copies are out.
    public var count: Int { handed.withLock { $0.count } }

    private func remove(_ own: URL) {
        do {
            if FileManager.default.fileExists(atPath: own.path) { try FileManager.default.removeItem(at: own) }
            handed.withLock { _ = $0.removeValue(forKey: own) }
        } catch {
            // It stays on the list, and is tried again at the next event and at the next start.
        }
    }
}
