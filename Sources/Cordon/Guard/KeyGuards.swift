internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonVault
internal import Crypto
internal import Foundation
internal import Logging

/// Has the keys of accounts hang on shares that PINs open, and opens them (decision 61). What is on disk decides in which state an
/// account's key is; nothing else is remembered.
struct KeyGuards: Sendable {
    /// How the share leaves and comes back from the service.
    struct Service: Sendable {
        /// Has the service keep a sealed share, and returns once it is durable there.
        let keep: @Sendable (RecoveryShare, AccountID) async throws(ServiceFailure) -> Void
        /// Has the service give the share out; the person has just signed in.
        let release: @Sendable (AccountID) async throws(ServiceFailure) -> RecoveryShare
        /// Has the service forget the share.
        let forget: @Sendable (AccountID) async throws(ServiceFailure) -> Void
    }

    private let context: ProtectionContext
    private let rules: EnforcedRules
    /// Whether a PIN is the account's present one. What cannot be told counts as not so.
    private let isPresent: @Sendable (PINVerifier, AccountID) -> Bool

    init(
        _ context: ProtectionContext, rules: EnforcedRules,
        isPresent: @escaping @Sendable (PINVerifier, AccountID) -> Bool = { _, _ in true }
    ) {
        self.context = context
        self.rules = rules
        self.isPresent = isPresent
    }

    // MARK: Looking

    /// Whether the account's key waits for the person: for its share, or because nothing opens it any more. What cannot be told counts as so.
    func isClosed(_ account: AccountID) async -> Bool {
        if await context.vault.isUnlocked(account) { return false }
        if await isGuarded(account) { return true }
        return await isLost(account)
    }

    /// Whether nothing opens the account's key any more: the key store has lost the secret that it hangs on, or its record is damaged or
    /// gone. What cannot be told counts as not so.
    ///
    /// - Parameter keyID: A guarded key of which the person has been told that nobody has its share any more.
    func isLost(_ account: AccountID, withoutShareOf keyID: String? = nil) async -> Bool {
        (try? await context.vault.isLost(account, withoutShareOf: keyID)) ?? false
    }

    /// Whether nothing opens one of the account's keys any more: the one that the gate guards, or that of its background files, whose record
    /// can be damaged alone.
    func hasLostKey(_ account: AccountID) async -> Bool {
        if await isLost(account) { return true }
        guard context.configuration.keepsBackgroundFiles, let vault = context.backgroundVault else { return false }
        return (try? await vault.isLost(account)) ?? false
    }

    /// Whether the account's key hangs on a share.
    func isGuarded(_ account: AccountID) async -> Bool { (try? await context.vault.isGuarded(account)) ?? true }

    /// The id of the account's key, where it hangs on a share; what cannot be told counts as none.
    func guardedKeyID(of account: AccountID) -> String? { try? context.vault.guardedKeyID(of: account) }

    /// Whether the account's key is to hang on a share: the rules ask for a PIN, and the gate guards files. Nil where no rules can be
    /// read: then the key stays as it is.
    private func isWanted(_ account: AccountID) -> Bool? {
        switch context.accounts.state(of: account)?.rules {
        case .policy?: context.configuration.gateGuardsFiles && rules.isPINRequired(for: .managed(account))
        case .noneTargeted?: false
        case .unreadable?, nil: nil
        }
    }

    // MARK: Opening

    /// Opens a guarded key with the PIN's key.
    ///
    /// - Returns: Whether the key is in memory; false where this PIN opens no share.
    /// - Throws: ``ProtectionError`` where the guard record or the vault cannot be read.
    func open(_ account: AccountID, with pinKey: PINKey) async throws(ProtectionError) -> Bool {
        guard case .value(let record) = try context.guards.contents(of: account),
            let share = record.share(under: pinKey, of: account)
        else { return false }
        return try await unlock(account, with: share)
    }

    /// Opens a guarded key with what the service gave out, and has the PIN open it from now on.
    ///
    /// - Returns: Whether the key is in memory; false for a share that this device did not seal, or that is of another key.
    /// - Throws: ``ProtectionError`` where the vault cannot be read or the guard record cannot be written.
    func open(
        _ account: AccountID, with recovered: RecoveryShare, andThen pin: GivenPIN?
    ) async throws(ProtectionError) -> Bool {
        guard let share = try share(in: recovered, of: account) else { return false }
        // Another process may be about to have the key hang on another share.
        return try await context.guards.locked(account) { () async throws(ProtectionError) in
            let found = try? context.guards.look(at: account)
            guard try await unlock(account, with: share) else { return false }
            if let pin, mayGuard(account, pin), let registrationID = context.accounts[account]?.registrationID {
                try await write(share, under: pin.key, of: account, registrationID, left: recovered.digest, over: found)
            }
            return true
        }
    }

    /// Gives an account whose key is lost another one, after the person has agreed. What was sealed under the lost one stays where it is.
    ///
    /// A kill leaves the lost key, and the person is asked again, or the new one.
    ///
    /// - Parameter keyID: A guarded key that is lost with its share: neither a PIN nor the service has that any more.
    /// - Throws: ``ProtectionError`` where the vault or the guard record cannot be written.
    func startAnew(_ account: AccountID, withoutShareOf keyID: String? = nil) async throws(ProtectionError) {
        let hasLostGuarded = await isLost(account, withoutShareOf: keyID)
        // An exchange, so that no check-in reports a share while it is being replaced. A wipe does not wait for this; the vault makes no
        // key after one.
        try await context.exchanges.run(account) { () async throws(ProtectionError) in
            guard !context.accounts.isRemoving(account) else { throw Wipes.underWay }
            try context.requireEnrolled(account)
            try await context.guards.locked(account) { () async throws(ProtectionError) in
                // Another process may have done it by now, and guarded the new key.
                if await isLost(account, withoutShareOf: keyID) { try context.guards.forget(account) }
                for vault in context.vaults { try await Self.startAnew(account, withoutShareOf: keyID, in: vault) }
            }
        }
        // What a finger opens is still good where the lost key is that of background files.
        if hasLostGuarded { await forgetItem(of: account) }
        context.publishSetAside(
            "an account's key was damaged, or it or what it hangs on is lost; the files stay, and nothing opens them"
        )
    }

    private static func startAnew(
        _ account: AccountID, withoutShareOf keyID: String?, in vault: Vault
    ) async throws(ProtectionError) {
        try await from(vault) { (vault) async throws(VaultError) in
            if try await vault.isLost(account, withoutShareOf: keyID) {
                try await vault.setAsideLostKey(of: account, withoutShareOf: keyID)
            }
            guard try await !vault.isGuarded(account) else { return }
            _ = try await vault.createAccountKey(for: account)
        }
    }

    /// The share that this device has sealed for the service; nil for anything else.
    private func share(
        in recovered: RecoveryShare, of account: AccountID
    ) throws(ProtectionError) -> SymmetricKey? {
        guard let sealed = Base64URL.decode(recovered.sealed) else { return nil }
        return KeyGuardRecord.open(sealed, try recoveryKey(), account)
    }

    /// Whether a share may be sealed under the PIN's key. One that another process has replaced or taken away while the service answered would
    /// leave the present PIN with nothing that it opens.
    private func mayGuard(_ account: AccountID, _ pin: GivenPIN) -> Bool {
        pin.verifier.map { isPresent($0, account) } ?? true
    }

    private func write(
        _ share: SymmetricKey, under pinKey: PINKey, of account: AccountID, _ registrationID: String, left: String,
        over read: GuardStore.Found?
    ) async throws(ProtectionError) {
        let secret = try await inboxSecret(of: account)
        // The service may have taken long to answer.
        guard context.accounts.isStaying(account) else { throw Wipes.underWay }
        let record = try KeyGuardRecord(
            share, under: pinKey, of: account, registrationID: registrationID, left: left,
            inboxKey: try AccountInbox.publicKey(of: secret))
        try context.guards.write(record, of: account, over: read)
    }

    // MARK: Biometry

    /// What the account's item for biometry is called; tells nothing of the account to who does not guess it.
    func itemName(of account: AccountID) -> String { "cordon-pin-" + FolderName.of(account) }

    /// Has a finger or a face that is enrolled now open what the PIN opens, where the app has a place for that.
    private func keepItem(_ pinKey: PINKey, of account: AccountID) async {
        guard let items = context.configuration.biometryItems else { return }
        let status = await items.keep(pinKey, named: itemName(of: account))
        guard status != .done else { return }
        context.configuration.logger.info("no biometry item was kept", metadata: ["reason": "\(status.rawValue)"])
    }

    /// A finger or a face opens nothing of the account any more; whether that could be.
    @discardableResult
    func forgetItem(of account: AccountID) async -> Bool {
        guard let items = context.configuration.biometryItems else { return true }
        let status = await items.forget(itemName(of: account))
        guard status != .done, status != .notFound else { return true }
        context.configuration.logger.warning(
            "a biometry item was not destroyed", metadata: ["reason": "\(status.rawValue)"])
        return false
    }

    // MARK: Receiving

    /// The public key of what a closed account receives.
    ///
    /// - Throws: ``ProtectionError`` with code `gateClosed` where it is not known, or not certain.
    func inboxKey(of account: AccountID) throws(ProtectionError) -> Data {
        guard case .value(let record) = try context.guards.contents(of: account) else {
            throw ProtectionError(.gateClosed, "the account cannot receive anything before its gate was passed")
        }
        return record.inboxKey
    }

    /// What opens that which a closed account has received; the key is in memory.
    func inboxSecret(of account: AccountID) async throws(ProtectionError) -> SymmetricKey {
        try await fromVault { (vault) async throws(VaultError) in try await vault.inboxSecret(of: account) }
    }

    private func unlock(_ account: AccountID, with share: SymmetricKey) async throws(ProtectionError) -> Bool {
        do {
            try await context.vault.unlock(account, with: share)
            return true
        } catch {
            if error.code == .wrongKey { return false }
            // A record that is damaged or gone opens with nothing; the gate then finds that the key is lost.
            if [.damaged, .unknownAccount, .wiped].contains(error.code), await isLost(account) { return false }
            throw ProtectionError(error)
        }
    }

    /// Takes a guarded key out of memory; what is open of the account ends. One that hangs on no share stays.
    ///
    /// - Parameter isNeeded: Whether it stays after all; asked when nothing comes between any more.
    func close(_ account: AccountID, unless isNeeded: @Sendable () -> Bool) async {
        guard await isGuarded(account) else { return }
        for failure in await context.vault.lock(account, unless: isNeeded) {
            context.configuration.logger.error(
                "what was written last to a file is lost", metadata: ["reason": "\(failure.reason)"])
        }
    }

    // MARK: Guarding

    /// Brings the account's key into the state that the rules ask for, after a PIN was right: guarded, or open again.
    ///
    /// Needs the key in memory and does nothing without; guarding needs the PIN's key besides. What cannot be done now is tried after the next right PIN.
    func applyRules(to account: AccountID, with pin: GivenPIN?, through service: Service) async {
        guard !context.accounts.isRemoving(account) else { return }
        if pin == nil, await !isGuarded(account) { return }
        do {
            // An exchange, so that no check-in reports a share while it is being replaced.
            try await context.exchanges.run(account) { () async throws(ProtectionError) in
                // The lock is held while the service answers: two processes must not leave two shares with it.
                try await context.guards.locked(account) { () async throws(ProtectionError) in
                    try await applyInTurn(account, pin, service)
                }
            }
        } catch {
            context.configuration.logger.warning(
                "an account's key could not be guarded",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    private func applyInTurn(
        _ account: AccountID, _ pin: GivenPIN?, _ service: Service
    ) async throws(ProtectionError) {
        let found = try? context.guards.look(at: account)
        guard let registrationID = context.accounts[account]?.registrationID, await context.vault.isUnlocked(account)
        else { return }
        let isGuarded = try await fromVault { (vault) async throws(VaultError) in try await vault.isGuarded(account) }
        guard let isWanted = isWanted(account) else { return }
        guard isWanted else {
            guard isGuarded else { return }
            try await release(account)
            await forgetItem(of: account)
            // One that the service keeps opens nothing any more.
            try? await service.forget(account)
            return
        }
        // One that another process has replaced or taken away since guards nothing any more.
        guard let pin, mayGuard(account, pin) else { return }
        guard isGuarded else {
            // What a finger gives has opened a share a moment ago: another process has taken it off since.
            guard pin.verifier != nil else { return }
            try await guardKey(of: account, pin, registrationID, service, over: found)
            return await keepItem(pin.key, of: account)
        }
        if case .value(let record) = try context.guards.contents(of: account),
            let share = record.share(under: pin.key, of: account)
        {
            // Renewed with every right PIN, which fingers that have changed since take.
            await keepItem(pin.key, of: account)
            guard record.registrationID != registrationID || record.left == nil else { return }
            let left = try await keep(share, account, service)
            try requirePresent(pin, of: account)
            try await write(share, under: pin.key, of: account, registrationID, left: left.digest, over: found)
        } else {
            guard pin.verifier != nil else { return }
            await keepItem(pin.key, of: account)
            // A new PIN was made while the key was in memory, after a sign-in that the service may still take for fresh.
            var recovered: RecoveryShare?
            do { recovered = try await service.release(account) } catch {
                guard error.saysNoShare else {
                    throw ProtectionError(.serviceUnusable, "the share of a key was not given out: \(error.reason)")
                }
            }
            guard let recovered, let share = try share(in: recovered, of: account),
                try await unlock(account, with: share)
            else {
                _ = try await renewShare(of: account, under: pin, registrationID, service, over: found)
                return
            }
            try requirePresent(pin, of: account)
            try await write(share, under: pin.key, of: account, registrationID, left: recovered.digest, over: found)
        }
    }

    /// Refuses to go on with a PIN that was replaced or taken away while the service answered.
    private func requirePresent(_ pin: GivenPIN, of account: AccountID) throws(ProtectionError) {
        guard mayGuard(account, pin) else {
            throw ProtectionError(.stateUnwritable, "the PIN was changed or taken away meanwhile")
        }
    }

    /// Sees to it that something else than a PIN opens the account's key, before the PIN goes: where the service is known to have the
    /// share no more, or may not have it for this registration, the key hangs on another one, which it keeps.
    ///
    /// - Returns: False where the PIN alone opens the key, or may: it is not in memory, or the service or the disk does not take another
    ///   share, or it cannot be told now what is noted of it.
    func keepAnotherWay(to account: AccountID, through service: Service) async -> Bool {
        guard await isGuarded(account) else { return true }
        do {
            switch try context.guards.known(of: account) {
            // No PIN opens a share that is not noted.
            case .absent, .doubtful: return true
            case .newer: return false
            case .value(let record):
                let registrationID = context.accounts[account]?.registrationID
                if record.left != nil, record.registrationID == registrationID { return true }
            }
            _ = try await renewShare(of: account, through: service)
            return true
        } catch {
            context.configuration.logger.warning(
                "a PIN alone opens an account's files", metadata: ["reason": "\(error.reason)"])
            return false
        }
    }

    /// Has the account's key, which is in memory, hang on another share, which the service keeps and no PIN opens.
    ///
    /// - Returns: What the service keeps.
    /// - Throws: ``ProtectionError`` where the key is not in memory, or the service or the disk does not take the share.
    func renewShare(
        of account: AccountID, through service: Service
    ) async throws(ProtectionError) -> RecoveryShare {
        // An exchange, so that no check-in reports a share while it is being replaced.
        try await context.exchanges.run(account) { () async throws(ProtectionError) in
            try await context.guards.locked(account) { () async throws(ProtectionError) in
                guard let registrationID = context.accounts[account]?.registrationID,
                    await context.vault.isUnlocked(account)
                else { throw ProtectionError(.gateClosed, "the account's key is not in memory") }
                let nobodys = GivenPIN(key: PINKey(size: .bits256), verifier: nil)
                let found = try? context.guards.look(at: account)
                return try await renewShare(of: account, under: nobodys, registrationID, service, over: found)
            }
        }
    }

    /// A kill in between leaves the former share, which a PIN opens, or the one that the service has.
    private func renewShare(
        of account: AccountID, under pin: GivenPIN, _ registrationID: String, _ service: Service,
        over read: GuardStore.Found?
    ) async throws(ProtectionError) -> RecoveryShare {
        let observer = context.configuration.guardObserver
        let share = SymmetricKey(size: .bits256)
        let left = try await keep(share, account, service)
        observer("kept")
        try context.guards.requireUnchanged(account, since: read)
        try requirePresent(pin, of: account)
        try await fromVault { (vault) async throws(VaultError) in
            try await vault.hang(account, on: share) { observer($0.rawValue) }
        }
        try await write(share, under: pin.key, of: account, registrationID, left: left.digest, over: read)
        observer("noted")
        return left
    }

    /// Has an open key hang on a new share. The service has it before anything hangs on it.
    private func guardKey(
        of account: AccountID, _ pin: GivenPIN, _ registrationID: String, _ service: Service,
        over read: GuardStore.Found?
    ) async throws(ProtectionError) {
        // Until files of an earlier version are resealed, the key stays as it is.
        guard await !context.vault.hasFormerFiles(of: account) else { return }
        let observer = context.configuration.guardObserver
        let share = SymmetricKey(size: .bits256)
        observer("begun")
        let left = try await keep(share, account, service)
        observer("kept")
        try requirePresent(pin, of: account)
        try await write(share, under: pin.key, of: account, registrationID, left: left.digest, over: read)
        observer("noted")
        try await fromVault { (vault) async throws(VaultError) in
            try await vault.hang(account, on: share) { observer($0.rawValue) }
        }
    }

    private func release(_ account: AccountID) async throws(ProtectionError) {
        let observer = context.configuration.guardObserver
        observer("leaving")
        try await fromVault { (vault) async throws(VaultError) in
            try await vault.hang(account, on: nil) { observer($0.rawValue) }
        }
        try context.guards.forget(account)
        observer("forgotten")
    }

    /// Leaves a share with the service; what was left.
    private func keep(
        _ share: SymmetricKey, _ account: AccountID, _ service: Service
    ) async throws(ProtectionError) -> RecoveryShare {
        let sealed = Base64URL.encode(try KeyGuardRecord.seal(share, try recoveryKey(), account))
        let left = RecoveryShare(sealed: sealed)
        do { try await service.keep(left, account) } catch {
            throw ProtectionError(.serviceUnusable, "the service does not keep the share: \(error.reason)")
        }
        return left
    }

    // MARK: Files and keys

    private func fromVault<Value>(
        _ work: (Vault) async throws(VaultError) -> Value
    ) async throws(ProtectionError) -> Value {
        try await Self.from(context.vault, work)
    }

    private static func from<Value>(
        _ vault: Vault, _ work: (Vault) async throws(VaultError) -> Value
    ) async throws(ProtectionError) -> Value {
        do { return try await work(vault) } catch { throw ProtectionError(error) }
    }

    /// Seals shares for the service: it never leaves the device.
    private func recoveryKey() throws(ProtectionError) -> SymmetricKey {
        try context.seal.key("cordon-guard-recovery-1")
    }
}
