internal import CordonBase
internal import CordonIdentity
internal import Foundation

/// The accounts' key records on disk: making and opening them, wrapping them anew, carrying over those of earlier software, and
/// what is left of keys that ended.
///
/// A key that was opened stays with ``AccountKeys``, not here. Apps of a key group share the folder: what makes, replaces or
/// destroys a record does so under ``exclusively(_:)``.
struct KeyRecords: Sendable {
    /// Whether vaults of other apps have their records in the same folder.
    let isShared: Bool

    private let directory: URL
    /// The same as text: to put an address together takes as long as to read a record.
    private let folder: String
    private let secrets: AccountSecrets

    private var formerKeys: FormerKeyFiles { FormerKeyFiles(directory: directory) }
    private var lostKeys: LostKeyFiles { LostKeyFiles(directory: directory) }

    init(in directory: URL, isShared: Bool, secrets: AccountSecrets) {
        self.directory = directory
        folder = directory.path
        self.isShared = isShared
        self.secrets = secrets
    }

    /// Runs a short body while no other process makes or destroys a key here.
    func exclusively<Value>(_ body: () throws(VaultError) -> Value) throws(VaultError) -> Value {
        try AdvisoryLock.exclusively(
            inFolder: directory,
            or: { VaultError(.inputOutput, "The keys cannot be locked (errno \($0.number)).", place: directory.path) },
            body)
    }

    /// Tells when any process makes, replaces or removes a record; nil where the system has no means left for it.
    func watch(_ changed: @escaping @Sendable () -> Void) -> FolderWatch? { FolderWatch(directory, changed) }

    // MARK: Reading

    /// Where an account's record lies.
    func path(of account: AccountID) -> String { place(of: Self.name(of: account)) }

    /// What an account's record is called.
    static func name(of account: AccountID) -> String { account.fileName + ".key" }

    private func place(of name: String) -> String { folder + "/" + name }

    private func read(
        _ account: AccountID
    ) throws(VaultError) -> (bytes: [UInt8], claim: AccountKeyRecord.Claim)? {
        guard let bytes = try PosixFile.contents(path(of: account), limit: AccountKeyRecord.size) else { return nil }
        return (bytes, try AccountKeyRecord.identify(bytes))
    }

    /// What every record in the folder says; foreign files are passed over.
    func claims() throws(VaultError) -> [AccountKeyRecord.Claim] {
        try PosixFile.names(in: folder).sorted().filter { $0.hasSuffix(".key") }.compactMap { name in
            guard let bytes = try? PosixFile.contents(place(of: name), limit: AccountKeyRecord.size) else { return nil }
            return try? AccountKeyRecord.identify(bytes)
        }
    }

    /// What the account's record says of itself; nil where there is none, or another account's.
    func claim(of account: AccountID) throws(VaultError) -> AccountKeyRecord.Claim? {
        guard let (_, claim) = try read(account), claim.account == account else { return nil }
        return claim
    }

    /// What the record says that holds a key; nil where it holds another one, or none.
    private func claim(of key: AccountKey) throws(VaultError) -> AccountKeyRecord.Claim? {
        guard let claim = try claim(of: key.account), claim.keyID == key.id, !claim.isWipe else { return nil }
        return claim
    }

    /// Whether a key in memory is still the account's: another process may have wiped the account meanwhile.
    ///
    /// A record may have been put back since, so the key store is asked as well whether it has any secret of the account, and nothing that says
    /// that the key ended; once a second at most, since every opening of a file comes here. A store that does not answer ends nothing.
    ///
    /// - Parameter asking: Whether it is asked in any case.
    func isCurrent(_ key: AccountKey, asking: Bool = false) throws(VaultError) -> Bool {
        guard let claim = try readable(key) else { return false }
        let now = ContinuousClock.now
        if !asking, let seen = key.lastSeen.withLock({ $0 }), now - seen < .seconds(1) { return true }
        if !isHeld(claim) {
            // The secret may have gone from one of its places to the other between two looks.
            let isStillHeld = try exclusively { () throws(VaultError) in try readable(key).map(isHeld) ?? false }
            guard isStillHeld else { return false }
        }
        key.lastSeen.withLock { $0 = now }
        return true
    }

    /// What the record says that holds a key; nil where it holds another one, or says nothing that can be read.
    private func readable(_ key: AccountKey) throws(VaultError) -> AccountKeyRecord.Claim? {
        guard let bytes = try PosixFile.contents(place(of: key.recordName), limit: AccountKeyRecord.size),
            let claim = try? AccountKeyRecord.identify(bytes), !claim.isWipe, claim.keyID == key.id
        else { return nil }
        // Another process may have had it hang on one.
        if claim.shareID != nil { key.hangsOnShare.withLock { $0 = true } }
        return claim
    }

    /// Whether the key store does not say that what a record holds was ended.
    private func isHeld(_ claim: AccountKeyRecord.Claim) -> Bool {
        guard (try? isRetired(claim)) != true else { return false }
        return claim.isPlain || (try? secrets.hasAny(of: claim.account)) != false
    }

    /// Whether a wipe has ended a key, which it notes in the key store before it looks for files. A store that was emptied, or a record that is gone,
    /// says nothing of that.
    func isEnded(_ key: AccountKey) throws(VaultError) -> Bool { try secrets.isRetired(keyID: key.id) }

    /// Whether there is a record, a wipe's note not counted; also where nothing says what a damaged one holds, and where the record is
    /// gone and the secret is not.
    ///
    /// - Parameter holdsFiles: Whether something is here that may hang on the key; looked at only where there is no record.
    func mayHoldKey(
        of account: AccountID, holdsFiles: @autoclosure () -> Bool = true
    ) throws(VaultError) -> Bool {
        do {
            guard let (_, claim) = try read(account) else {
                guard try secrets.mayHoldKey(of: account) else { return false }
                return holdsFiles()
            }
            return !claim.isWipe(of: account)
        } catch {
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
            return true
        }
    }

    /// Whether anything is left that a wipe has to end: what holds a key, or may, or any secret of the account in the key store, whatever lies in
    /// the folder and whatever is being made.
    func keepsKey(of account: AccountID) throws(VaultError) -> Bool {
        if try secrets.hasAny(of: account) { return true }
        return try mayHoldKey(of: account)
    }

    /// Whether the record is of a version that is not known, beside a secret: a newer app's.
    func mayBeNewerApps(_ account: AccountID) throws(VaultError) -> Bool {
        do { _ = try read(account) } catch {
            guard error.code == .unsupportedFormat else { return false }
            return try secrets.hasAny(of: account)
        }
        return false
    }

    /// Whether the record is the note that a wipe of the account began. One that is damaged, of another version or another account's does not
    /// say so.
    func holdsWipeNote(of account: AccountID) throws(VaultError) -> Bool {
        do {
            guard let (_, claim) = try read(account) else { return false }
            return claim.isWipe(of: account)
        } catch {
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
            return false
        }
    }

    /// Whether what a record holds was destroyed before: the key itself, or every one that hangs on no secret.
    private func isRetired(_ claim: AccountKeyRecord.Claim) throws(VaultError) -> Bool {
        if claim.isPlain, try secrets.arePlainRecordsRetired(of: claim.account) { return true }
        return try secrets.isRetired(keyID: claim.keyID)
    }

    /// Whether the record cannot be opened without a share. A copy of one whose key was wiped counts for nothing.
    func needsShare(_ account: AccountID) throws(VaultError) -> Bool {
        guard let (_, claim) = try read(account), claim.shareID != nil else { return false }
        return try !isRetired(claim)
    }

    /// The id of a key that cannot be opened without a share, hexadecimal; nil for any other, and for none.
    func idOfGuardedKey(of account: AccountID) throws(VaultError) -> String? {
        guard try needsShare(account) else { return nil }
        return try claim(of: account)?.keyID.hex
    }

    /// What comes of opening a record.
    enum Opening {
        /// There is none.
        case absent
        /// It is a copy of one whose key was destroyed.
        case destroyed
        /// It is of earlier software and hangs on the root key alone; see ``renewPlain(_:)``.
        case plain
        /// It holds the key that the caller has.
        case held
        /// It holds another key; whether files may hang on the one before that.
        case key(AccountKey, hasFormerFiles: Bool)
    }

    /// Opens the account's record, and ends what a kill has left of replacing it.
    ///
    /// - Parameters:
    ///   - share: What the record hangs on; of no account beside it, and not looked at where the record needs none.
    ///   - held: The key that the caller has.
    /// - Throws: `wipePending` for the note of a wipe, `locked` for a missing share, `wrongKey`, `damaged`, `keyStore`.
    func open(
        _ account: AccountID, share: SecretBytes?, besides held: AccountKey?
    ) throws(VaultError) -> Opening {
        let found = try unwrapAgainIfReplaced(account, share: share, besides: held)
        guard case .key(let opened, _) = found else { return found }
        // A kill may have come between a new record and the end of the former one.
        try endPlain(account)
        try endMaking(of: opened)
        try endUnusedSecret(of: opened)
        let hangsOnShare = opened.hangsOnShare.withLock { $0 }
        if let held, held.id == opened.id {
            held.hangsOnShare.withLock { $0 = hangsOnShare }
            return .held
        }
        let (key, hasFormerFiles) = try formerKeys.joined(to: opened)
        key.hangsOnShare.withLock { $0 = hangsOnShare }
        return .key(key, hasFormerFiles: hasFormerFiles)
    }

    /// Looks once more while no other process wraps a key anew: between a look at the record and one at the secret the record may be another one,
    /// and what the former hung on destroyed.
    private func unwrapAgainIfReplaced(
        _ account: AccountID, share: SecretBytes?, besides held: AccountKey?
    ) throws(VaultError) -> Opening {
        do {
            let found = try unwrap(account, share: share, besides: held)
            guard case .destroyed = found else { return found }
        } catch {
            guard error.code == .wrongKey else { throw error }
        }
        return try exclusively { () throws(VaultError) in try unwrap(account, share: share, besides: held) }
    }

    /// What the record gives, without a former key.
    private func unwrap(
        _ account: AccountID, share: SecretBytes?, besides held: AccountKey?
    ) throws(VaultError) -> Opening {
        guard let (bytes, claim) = try read(account) else { return .absent }
        guard claim.account == account else { throw VaultError(.damaged, "The key record is another account's.") }
        if !claim.isWipe, try isRetired(claim) { return .destroyed }
        if claim.isPlain { return .plain }
        // Without its share the record cannot be opened again, and need not be.
        if claim.shareID != nil, share == nil, held?.id == claim.keyID { return .held }
        let parts = try secrets.parts(of: account, for: claim, share: share)
        guard case .key(let opened) = try AccountKeyRecord.open(bytes, under: parts) else {
            throw VaultError(.wipePending, "A wipe of the account has begun.")
        }
        opened.hangsOnShare.withLock { $0 = claim.shareID != nil }
        return .key(opened, hasFormerFiles: false)
    }

    // MARK: Making and wrapping

    /// Makes the account's key, unless there is one that was not destroyed, or the note that a wipe began.
    ///
    /// - Parameter holdsFiles: Whether something is here that may hang on a former key; looked at only where there is no record.
    /// - Throws: `unknownAccount` where the record of a key is gone that is not known to have ended.
    func make(for account: AccountID, holdsFiles: @autoclosure () -> Bool = true) throws(VaultError) {
        try exclusively { () throws(VaultError) in
            // Another app of the key group may have made it by now, or begun a wipe, whose note is not written over.
            if let (_, claim) = try read(account), try claim.isWipe ? true : !isRetired(claim) { return }
            // A new secret takes the place of the one that the lost record hangs on, which an intact copy of it still opens with.
            guard try nameOfLostKey(of: account, holdsFiles: holdsFiles()) == nil else { throw VaultError.lostRecord }
            try secrets.beginMaking(of: account)
            let parts = try secrets.renewedParts(of: account)
            let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random())
            defer { key.destroy() }
            try PosixFile.replace(path(of: account), with: try key.record(under: parts))
            try secrets.endMaking(of: account)
        }
    }

    /// Ends the note that a key is being made, which a kill has left after its record, or after an intact record was put back.
    ///
    /// - Parameter key: Was opened with the record in force.
    private func endMaking(of key: AccountKey) throws(VaultError) {
        // One that cannot be read was being removed.
        guard (try? secrets.isMaking(key.account)) != false else { return }
        try exclusively { () throws(VaultError) in
            guard try claim(of: key) != nil else { return }
            try secrets.endMaking(of: key.account)
        }
    }

    /// Has a key hang on a share from now on, or on none any more: same key, new record, new secret.
    ///
    /// A kill at any instant leaves the former record in force or the new one. No copy of the former record opens afterwards.
    ///
    /// - Throws: `wiped` where the record does not hold the key any more, `keyStore`, or what the disk refused.
    func hang(
        _ key: AccountKey, on share: SecretBytes?, observer: @Sendable (RewrapStep) -> Void
    ) throws(VaultError) {
        try exclusively { () throws(VaultError) in
            guard let claim = try claim(of: key) else { throw VaultError(.wiped, "The account's key was destroyed.") }
            let parts = try secrets.nextParts(after: claim, share: share)
            observer(.secretMade)
            try PosixFile.replace(path(of: key.account), with: try key.record(under: parts))
            key.hangsOnShare.withLock { $0 = share != nil }
            observer(.recordReplaced)
            guard let now = try self.claim(of: key) else { return }
            try secrets.destroyUnused(besides: now)
            observer(.formerDestroyed)
        }
    }

    /// Ends a secret that a kill has left beside the one in force.
    ///
    /// - Parameter key: Was opened with the record in force.
    private func endUnusedSecret(of key: AccountKey) throws(VaultError) {
        guard try secrets.hasUnused(of: key.account) else { return }
        try exclusively { () throws(VaultError) in
            guard let claim = try claim(of: key) else { return }
            try secrets.destroyUnused(besides: claim)
        }
    }

    // MARK: Keys of earlier software

    /// Gives an account whose key hangs on the root key alone a new key that hangs on a secret, once. The former one is kept, wrapped
    /// under the new one.
    ///
    /// A kill at any instant leaves the former record in force or the new one, and the next opening goes on.
    func renewPlain(_ account: AccountID) throws(VaultError) {
        try exclusively { () throws(VaultError) in
            // Another app of the key group may have done it by now.
            guard let (bytes, claim) = try read(account), claim.isPlain else { return }
            let plain = KeyParts(root: try secrets.parts(of: account, for: nil).root, secret: nil)
            guard case .key(let former) = try AccountKeyRecord.open(bytes, under: plain) else { return }
            let parts = try secrets.renewedParts(of: account)
            let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random(), former: former)
            defer { key.destroy() }
            try formerKeys.keep(former, under: key, isUnused: false)
            try formerKeys.keepUntilOverwritten(path(of: account), of: account)
            try PosixFile.replace(path(of: account), with: try key.record(under: parts))
            try endPlain(account)
        }
    }

    /// Overwrites what is left of a replaced record, and lets no copy of it count any more. The new one is in force.
    private func endPlain(_ account: AccountID) throws(VaultError) {
        try formerKeys.overwriteReplacedRecord(of: account)
        try secrets.retirePlainRecords(of: account)
    }

    /// Notes durably that no file hangs on the key that came before a key.
    func noteNoFormerFiles(of key: AccountKey) throws(VaultError) {
        guard let former = key.former else { return }
        try formerKeys.keep(former, under: key, isUnused: true)
    }

    // MARK: Lost keys

    /// What tells the record of a lost key from others that were put aside; nil where the account has none, or its key is not lost.
    ///
    /// A secret beside no record, or beside a copy of one whose key was destroyed, is that of a key whose record is gone: the secret ends
    /// with its key, and is made after ``AccountSecrets/beginMaking(of:)``.
    ///
    /// - Parameters:
    ///   - keyID: The guarded key, hexadecimal, of which the caller has found that nobody has its share any more.
    ///   - holdsFiles: Whether something is here that may hang on the key; looked at only where there is no record. An app that was
    ///     installed anew finds the secrets of the time before, and nothing that hangs on them.
    /// - Throws: ``VaultError`` where the record cannot be read or the key store does not answer.
    func nameOfLostKey(
        of account: AccountID, withoutShareOf keyID: String? = nil, holdsFiles: @autoclosure () -> Bool = true
    ) throws(VaultError) -> String? {
        do {
            guard let (bytes, claim) = try read(account) else {
                guard try secrets.mayHoldKey(of: account), holdsFiles() else { return nil }
                return SecureRandom.bytes(16).hex
            }
            guard claim.account == account else { return SecureRandom.bytes(16).hex }
            if claim.isWipe { return nil }
            if try isRetired(claim) { return try secrets.mayHoldKey(of: account) ? claim.keyID.hex : nil }
            guard claim.secretID != nil else { return nil }
            guard try secrets.hasSecret(of: claim) else { return claim.keyID.hex }
            if claim.shareID != nil { return claim.keyID.hex == keyID ? keyID : nil }
            // Secrets are named by the root key: where the secret is the record's own, the root key is too.
            _ = try AccountKeyRecord.open(bytes, under: try secrets.parts(of: account, for: claim))
            return nil
        } catch {
            guard error.code == .damaged || error.code == .wrongKey else { throw error }
            return SecureRandom.bytes(16).hex
        }
    }

    /// Gives a lost key up, and puts what is left of its record aside under its name, and of that of the key before it; durable when this returns.
    ///
    /// - Parameter name: What ``nameOfLostKey(of:withoutShareOf:holdsFiles:)`` gives.
    func setAside(_ account: AccountID, as name: String) throws(VaultError) {
        // Before the record goes: its secret, beside no record, would be that of a lost key again.
        try secrets.beginMaking(of: account)
        // Before the record as well, by which a kill has this done again. Where it is damaged, it would keep the new key from names on disk.
        try lostKeys.setAside(formerKeys.path(of: account), of: account, as: name + ".former")
        try lostKeys.setAside(path(of: account), of: account, as: name)
    }

    // MARK: Parts of a wipe

    /// Destroys the account's secrets, so that no copy of a record opens, and remembers what ended.
    ///
    /// - Parameter known: What the record says, where it can be read.
    func destroySecrets(of account: AccountID, _ known: AccountKeyRecord.Claim?) throws(VaultError) {
        try secrets.destroy(for: account, ending: known?.keyID)
    }

    /// Overwrites the account's record with the note that a wipe began; false where there is none.
    ///
    /// Anything may lie there, also the record that another app has of the same account: a file with other hard links, or a symbolic link's
    /// target, is left untouched.
    func overwrite(_ account: AccountID, _ known: AccountKeyRecord.Claim?) throws(VaultError) -> Bool {
        let path = path(of: account)
        if PosixFile.isLink(path) { return true }
        guard let file = try PosixFile.open(path, writing: true, ifExists: true, following: false) else { return false }
        defer { file.close() }
        if known?.isWipe == true { return true }
        try formerKeys.removeSecondName(of: file, account)
        guard try file.names() == 1 else { return true }
        if known == nil, try file.size() != Int64(AccountKeyRecord.size) { return true }
        let id = known?.keyID ?? [UInt8](repeating: 0, count: 16)
        try file.write(try AccountKeyRecord.wipeNote(account, keyID: id), at: 0)
        try file.sync()
        return true
    }

    /// Overwrites and removes what former and lost keys of the account have left beside its record.
    func removeFormerAndLost(of account: AccountID) throws(VaultError) {
        try formerKeys.remove(of: account)
        try lostKeys.remove(of: account)
    }

    /// Removes what kills have left of writing the account's records.
    func removeDrafts(of account: AccountID) throws(VaultError) {
        try exclusively { () throws(VaultError) in
            try PosixFile.removeDrafts(in: folder, of: account.fileName + ".")
        }
    }

    /// Unlinks the account's record, durable after ``sync()``, unless another app of the key group has made a key since its secrets were
    /// destroyed, which nothing prevents where no note was left. Each key is made with a secret of its own, which tells without a look at what lies
    /// in the record's place.
    func unlinkEnded(_ account: AccountID) throws(VaultError) {
        try exclusively { () throws(VaultError) in
            if try !secrets.hasAny(of: account) { PosixFile.remove(path(of: account)) }
        }
    }

    /// Makes changes of names in the folder durable.
    func sync() throws(VaultError) { try PosixFile.syncDirectory(directory.path) }

    /// Whether a record hangs on the store's secret as it is now, or opens with the root key alone and was not retired. One that needs a
    /// share besides cannot be opened here; it is known by the id of its secret, which only who has the secret makes for its key.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read or the key store does not answer: it may be in force.
    func isInForce(_ record: AccountKeyRecord.Claim) throws(VaultError) -> Bool {
        guard !record.isWipe, try !isRetired(record),
            let bytes = try PosixFile.contents(path(of: record.account), limit: AccountKeyRecord.size)
        else { return false }
        let parts = try secrets.parts(of: record.account, for: record)
        if record.shareID != nil {
            return record.secretID != nil && (try? parts.secretID(for: record.keyID)) == record.secretID
        }
        if case .key = try? AccountKeyRecord.open(bytes, under: parts) { return true }
        return false
    }
}

extension VaultError {
    /// The error of a key whose record is gone while its secret is there: a new key would take the secret's place.
    static let lostRecord = VaultError(
        .unknownAccount, "The record of the account's key is gone, and its secret is not.",
        hint: "Put an intact copy of the record back, or wipe the account.")
}
