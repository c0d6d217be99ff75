internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The share that an app has left for a person who forgets the PIN. Sealed by the device: neither the service nor who has its store opens it.
struct RecoveryShareRecord: Sendable, Codable, Equatable {
    /// The registration.
    let registrationID: String
    /// The sealed share, base64url.
    var sealed: String
    /// When it was given out, at most a day ago.
    var releases: [Date] = []

    /// The releases of the last day.
    func recentReleases(at now: Date) -> [Date] { releases.filter { now.timeIntervalSince($0) < 86_400 } }
}

extension RecoveryShareRecord: StoredRecord {
    /// Shares for recovery.
    static var storageKind: StorageKind { .recoveryShare }
    /// The registration's id.
    var storageID: String { registrationID }
}

extension StorageTransaction {
    /// Forgets what a registration has left for recovery: its data is gone, or must not be read any more.
    func removeRecoveryShare(ofRegistration id: String) throws(ServiceError) {
        try remove(RecoveryShareRecord.self, id)
    }

    /// Has a registration keep what the one before it on the same device has left: the files there still hang on it.
    func moveRecoveryShare(fromRegistration old: String, to new: String) throws(ServiceError) {
        guard let left = try record(RecoveryShareRecord.self, old) else { return }
        try save(RecoveryShareRecord(registrationID: new, sealed: left.sealed, releases: left.releases))
        try remove(RecoveryShareRecord.self, old)
    }

    /// Has a new registration keep what one of the same person and app has left that has ended: the person left the organisation without
    /// a wipe and is back. Nothing is taken from a registration that is in use, and the former one keeps its copy until its retention ends.
    func copyRecoveryShare(fromRegistration old: String, to new: Registration) throws(ServiceError) {
        guard try record(RecoveryShareRecord.self, new.id) == nil, let former = try record(Registration.self, old),
            former.state != .active, former.id != new.id,
            folded(former.account.id.rawValue) == folded(new.account.id.rawValue),
            folded(former.application.bundleID) == folded(new.application.bundleID),
            let left = try record(RecoveryShareRecord.self, old)
        else { return }
        try save(RecoveryShareRecord(registrationID: new.id, sealed: left.sealed, releases: left.releases))
    }
}
