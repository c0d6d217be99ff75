internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

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
    /// The sign-in name, and the display name with the id.
    public var lookups: [StorageLookup: String] {
        [.name: folded(userPrincipalName), .shown: ShownText.place(named: displayName, id: id)]
    }
}

extension Registration: StoredRecord {
    /// Registrations.
    public static var storageKind: StorageKind { .registration }
    /// The registration's id.
    public var storageID: String { id }
    /// Person, key and device; while active the app, and since when something is wrong; when it expires or, once closed, is put away.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [
            .user: folded(account.id.rawValue), .key: key.thumbprint, .device: folded(device.tag),
        ]
        lookups[.subject] = otherSubject.map(folded)
        guard state == .active else {
            // What a wipe is still owed to stays, and what a wipe was done for, because a fresh sign-in is asked for after it.
            if missedWipe == nil {
                // With the id, since maintenance closes many in one second, and goes on after those that an open wipe keeps.
                let place = StorageTime.text(closed ?? lastSync) + "/" + id
                lookups[.due] = (state == .wiped ? "wiped/" : "closed/") + place
            }
            return lookups
        }
        lookups[.state] = "active"
        lookups[.app] = folded(application.bundleID)
        lookups[.due] = "active/" + StorageTime.hour(lastSync)
        lookups[.drift] = driftSince.map(StorageTime.text)
        lookups[.flagged] = (flaggedSince ?? evidence?.refused).map(StorageTime.text)
        return lookups
    }
}

extension WipeOperation: StoredRecord, NewestFirst {
    /// Wipes.
    public static var storageKind: StorageKind { .operation }
    /// The operation's id.
    public var storageID: String { id }
    /// The registration and the person; when it was asked for; ``StorageLookup/state`` while open; when it lapses or, once ended, is
    /// put away.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [
            .registration: registrationID, .user: folded(account.rawValue), .newest: place,
        ]
        if state.isOpen { lookups[.state] = "open" }
        if [.failed, .expired].contains(state), successorID == nil { lookups[.state] = "failed" }
        lookups[.due] = state.isOpen ? "open/" + StorageTime.text(notAfter) : "ended/" + StorageTime.text(modified)
        return lookups
    }
}

extension ServiceSigningKey: StoredRecord {
    /// Signing keys.
    public static var storageKind: StorageKind { .signingKey }
    /// The key id.
    public var storageID: String { id }
}
