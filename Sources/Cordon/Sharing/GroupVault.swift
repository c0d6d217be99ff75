internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault
internal import Foundation

/// Seals what passes between the apps of a group, under a key that each account has in the group and that guards nothing
/// else: a wipe in one app ends what is on its way, and no other app's files.
struct GroupVault: Sendable {
    /// What a sealed thing is for; one made for another purpose is refused.
    enum Purpose: String, Codable, Sendable {
        case handOver
        case notifications
    }

    private struct Label: Codable {
        var purpose: Purpose
        var name: String
    }

    private let vault: Vault
    private let folder: StateFolder
    private let seal: StateSeal

    /// Opens the group for one app or extension.
    ///
    /// - Parameters:
    ///   - directory: Its own place for what a wipe needs.
    ///   - isHolder: Whether the app has an account. Keys are made for no other one: what began before a wipe makes none after it.
    init(
        _ group: SharingGroup, directory: URL, for isHolder: @escaping @Sendable (AccountID) -> Bool = { _ in true }
    ) throws(ProtectionError) {
        for place in [directory.appending(path: "group"), group.directory.appending(path: "keys")] {
            try StateFolder.refuseLink(at: place)
        }
        do {
            vault = try Vault(
                directory: directory.appending(path: "group"), keyStore: group.keyStore,
                keyDirectory: group.directory.appending(path: "keys"))
        } catch { throw ProtectionError(error) }
        vault.makeKeys(for: isHolder)
        folder = try StateFolder(group.directory.appending(path: "values"))
        // No app's name: all apps of the group count the same records.
        seal = StateSeal(
            keyStore: group.keyStore, folder: folder,
            counter: try StateSeal.counter(group.stateCounter, in: group.directory), bundleID: "")
    }

    // MARK: What notifications may show

    /// What the apps have said last of an account's notifications; nil where they have said nothing, or it is not the last word.
    func notificationLevel(of account: AccountID) async -> NotificationLevel? {
        guard let sealed = try? toldLevel(of: account),
            let (name, _) = try? await open(sealed, of: account, as: .notifications)
        else { return nil }
        return NotificationLevel(rawValue: name)
    }

    /// Seals what an account's notifications may show.
    func sealed(_ level: NotificationLevel, of account: AccountID) async throws(ProtectionError) -> Data {
        try await seal(Data(), named: level.rawValue, for: account, as: .notifications)
    }

    /// Tells the group what ``sealed(_:of:)`` has sealed, in place of what was told before.
    ///
    /// - Parameter isOvertaken: Whether another process has come to know better meanwhile, and tells that itself; asked while no other one tells
    ///   anything.
    func tell(
        _ sealed: Data, of account: AccountID, unless isOvertaken: () -> Bool = { false }
    ) throws(ProtectionError) {
        let state = level(of: account)
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            guard !isOvertaken() else { return }
            _ = try state.write(over: try? state.look()) { _ in ToldLevel(sealed: Base64URL.encode(sealed)) }
        }
    }

    /// Takes back what the group was told of an account.
    func takeBackLevel(of account: AccountID) throws(ProtectionError) {
        let state = level(of: account)
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in try state.remove() }
    }

    private func toldLevel(of account: AccountID) throws(ProtectionError) -> Data? {
        let state = level(of: account)
        let found = try state.look()
        switch found.contents {
        case .value(let told): return Base64URL.decode(told.sealed)
        // Versions before did not count: theirs is the bare buffer, and counts as long as none was counted.
        case .doubtful(.damaged) where !found.isCounted: return try state.file.read()
        case .absent, .newer, .doubtful: return nil
        }
    }

    private func level(of account: AccountID) -> SealedState<ToldLevel> {
        let file = folder.file("notifications-" + FolderName.of(account))
        return SealedState(file: file, purpose: "notifications", seal: seal, former: .raw)
    }

    // MARK: What passes between apps

    /// Whether bytes were sealed for an account, and for which, as they say themselves; opening them proves it.
    func owner(of bytes: Data) -> AccountID? { vault.owner(ofBuffer: bytes) }

    /// Seals bytes for the account's apps of this group.
    func seal(
        _ bytes: Data, named name: String, for account: AccountID, as purpose: Purpose
    ) async throws(ProtectionError) -> Data {
        guard let label = try? MessageCoding.encode(Label(purpose: purpose, name: name)) else {
            throw ProtectionError(.damagedContent, "the name has no JSON form")
        }
        var parcel = Data(withUnsafeBytes(of: UInt32(label.count).bigEndian) { Array($0) })
        parcel += label + bytes
        do {
            // The group may have lost the key since the last time, by another app's wipe.
            try await makeKey(of: account)
            return try await vault.protect(parcel, for: account)
        } catch { throw ProtectionError(error) }
    }

    /// Makes or takes the account's key of the group. A key whose record is missing is abandoned; nothing durable depends on it.
    private func makeKey(of account: AccountID) async throws(VaultError) {
        do { try await vault.createAccountKey(for: account) } catch {
            guard error.code == .unknownAccount else { throw error }
            try await vault.setAsideLostKey(of: account)
            try await vault.createAccountKey(for: account)
        }
    }

    /// Opens what was sealed for the account and the purpose; anything else is an error.
    func open(
        _ sealed: Data, of account: AccountID, as purpose: Purpose
    ) async throws(ProtectionError) -> (name: String, bytes: Data) {
        let parcel: Data
        do {
            try await vault.unlock(account)
            // Only the seal proves who it is from: any app can write a readable buffer that names the account.
            parcel = try await vault.unseal(sealed, of: account)
        } catch  where error.code == .notProtected {
            throw ProtectionError(.damagedContent, "what arrived names an account, but was not sealed for it")
        } catch { throw ProtectionError(error) }
        guard parcel.count >= 4,
            let length = Int(exactly: parcel.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }),
            parcel.count - 4 >= length,
            let label = try? MessageCoding.decode(Label.self, from: Data(parcel.dropFirst(4).prefix(length))),
            label.purpose == purpose
        else { throw ProtectionError(.damagedContent, "what arrived was sealed for another purpose") }
        return (label.name, Data(parcel.dropFirst(4 + length)))
    }

    /// Destroys the account's key of the group; what is on its way cannot be opened any more.
    func forget(_ account: AccountID) async throws(ProtectionError) {
        // A journal of an earlier wipe that is put back, at whatever moment, has none leave the present key alone.
        do { _ = try await vault.wipeAnew(account) } catch { throw ProtectionError(error) }
    }

    /// Whether the group may have a key of the account; also where that cannot be told.
    func mayKeepKey(of account: AccountID) -> Bool { (try? vault.keepsKey(of: account)) != false }
}

/// What the group was told of one account. The buffer is sealed under the account's key of the group, so that a wipe ends copies of it too.
struct ToldLevel: Codable, Sendable {
    var sealed: String
}

extension ToldLevel: JSONReadable {
    init(_ members: JSONMembers) throws(PolicyError) { self.init(sealed: try members.text("sealed")) }
}
