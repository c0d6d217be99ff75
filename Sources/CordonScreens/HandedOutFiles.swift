public import Cordon
internal import CordonBase
public import Foundation

/// Plain copies of sealed files for views of the system that read a path: Quick Look, a player, a thumbnail. A copy exists while something
/// shows it, and is removed when that ends, when the account's gate closes, at a wipe, and at the next start.
///
/// A wipe does not wait until its copies are gone; if the receipt should say so, call ``takeBackAll(of:)`` in the app's `wipeHook`. The folder
/// has mode 0700 and holds nothing else; the app excludes it from backups. Any thread may call.
public final class HandedOutFiles: Sendable {
    private let folder: URL
    private let handed = Locked<[URL: AccountID?]>([:])
    private let protection: AppProtection?
    private let follower = Locked<EventFollower?>(nil)

    /// Names the folder, removes what a killed app has left there, and follows the protection's gates and wipes.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when the folder cannot be made or cleared.
    public convenience init(folder: URL, following protection: AppProtection) throws(ProtectionError) {
        try self.init(folder: folder, protection)
        follower.withLock { $0 = EventFollower(protection) { [weak self] in self?.note($0) } }
    }

    package init(folder: URL, _ protection: AppProtection? = nil) throws(ProtectionError) {
        self.folder = folder
        self.protection = protection
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
    ///   - name: The copy's name; of a path only the last part counts.
    ///   - owner: The copy's owner.
    /// - Throws: ``ProtectionError``: `gateClosed` while the account's data may not be shown, `stateUnwritable`.
    public func handOut(_ contents: Data, named name: String, of owner: Identity) throws(ProtectionError) -> URL {
        let own = folder.appending(path: UUID().uuidString)
        // By bytes, as the system takes a path apart: a slash and an accent behind it are one character.
        let last = name.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
        let file = own.appending(path: ["", ".", ".."].contains(last) ? "document" : last)
        do {
            try FileManager.default.createDirectory(
                at: own, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            // Known before it is there, so that a wipe that comes meanwhile finds it.
            handed.withLock { $0[own] = .some(owner.account) }
            // Asked after that: a gate that closes later takes the copy away.
            if let protection, let account = owner.account, !protection.rules.mayShow(account) {
                throw ProtectionError(.gateClosed, "the account's gate is closed")
            }
            try contents.write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            takeBack(file)
            throw error as? ProtectionError ?? ProtectionError(.stateUnwritable, "a copy could not be handed out")
        }
        return file
    }

    /// Removes a copy for good; a missing one is no error.
    public func takeBack(_ file: URL) {
        let own = file.deletingLastPathComponent()
        guard let key = handed.withLock({ handed in handed.keys.first { $0.path == own.path } }) else { return }
        remove(key)
    }

    /// Removes every copy of one account, or of all.
    public func takeBackAll(of account: AccountID? = nil) {
        let gone = handed.withLock { handed in
            handed.filter { entry in
                guard let account else { return true }
                return entry.value.map { IdentityContext.areSame($0, account) } ?? false
            }
            .map(\.key)
        }
        for own in gone { remove(own) }
    }

    /// Takes away the copies of an account whose gate closed, whose data is removed, or that has left.
    package func note(_ event: ProtectionEvent) {
        switch event {
        case .gate(let account, .closed), .wipeStarted(let account, _), .wipeFinished(let account, _, _):
            takeBackAll(of: account)
        case .status(let report) where report.operation == .unenrollment: takeBackAll(of: report.account)
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
