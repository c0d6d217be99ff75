internal import CordonIdentity
internal import CordonProtocol

/// How ids and names that differ only in case become one.
func folded(_ name: String) -> String { name.lowercased() }

extension ManagedAppPolicy: StoredRecord {
    /// Policies.
    public static var storageKind: StorageKind { .policy }
    /// The policy's id.
    public var storageID: String { id }
}

extension DirectoryUser: StoredRecord {
    /// People.
    public static var storageKind: StorageKind { .user }
    /// The folded object id.
    public var storageID: String { folded(id) }
    /// The sign-in name.
    public var lookups: [StorageLookup: String] { [.name: folded(userPrincipalName)] }
}

extension Registration: StoredRecord {
    /// Registrations.
    public static var storageKind: StorageKind { .registration }
    /// The registration's id.
    public var storageID: String { id }
    /// Person and key, and the app while active.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [
            .user: folded(account.id.rawValue), .key: key.thumbprint,
        ]
        if state == .active { lookups[.app] = folded(application.bundleID) }
        lookups[.subject] = otherSubject.map(folded)
        return lookups
    }
}

extension WipeOperation: StoredRecord {
    /// Wipes.
    public static var storageKind: StorageKind { .operation }
    /// The operation's id.
    public var storageID: String { id }
    /// The registration; ``StorageLookup/state`` while open.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [.registration: registrationID]
        if state.isOpen { lookups[.state] = "open" }
        return lookups
    }
}

extension ServiceSigningKey: StoredRecord {
    /// Signing keys.
    public static var storageKind: StorageKind { .signingKey }
    /// The key id.
    public var storageID: String { id }
}
