internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The share that an app has left for a person who forgets the PIN. Sealed by the device: neither the service nor who has its store opens it.
struct RecoveryShareRecord: Sendable, Codable, Equatable {
    /// The registration.
    let registrationID: String
    /// The sealed share, base64url.
    var sealed: String
    /// When it, or a copy of it, was given out, at most a day ago.
    var releases: [Date] = []
    /// The first registration of the app that left a share, where this one began as a copy of it; nil for that one itself.
    var origin: String?

    /// The first registration that left what this one goes on from.
    var first: String { origin ?? registrationID }

    /// The releases of the last day. One of a later day was made while the clock was ahead, and would count until then.
    func recentReleases(at now: Date) -> [Date] { releases.filter { abs(now.timeIntervalSince($0)) < 86_400 } }
}

extension RecoveryShareRecord: StoredRecord {
    /// Shares for recovery.
    static var storageKind: StorageKind { .recoveryShare }
    /// The registration's id.
    var storageID: String { registrationID }
}

extension StorageReader {
    /// The share of a registration, with those that it was copied from and to: they guard keys of the same files. None where it has left none.
    func recoveryShares(of registration: Registration) throws(ServiceError) -> [RecoveryShareRecord] {
        guard let own = try record(RecoveryShareRecord.self, registration.id) else { return [] }
        let person = folded(registration.account.id.rawValue)
        let ids = try records(Registration.self, where: (.user, person)).map(\.id)
        // A version before noted no origin; no two shares are sealed alike.
        return try records(RecoveryShareRecord.self, ids: ids).filter {
            $0.first == own.first || $0.sealed == own.sealed
        }
    }
}

extension StorageTransaction {
    /// Forgets what one registration has left for recovery, and no copy: those have times of their own.
    func removeRecoveryShare(ofRegistration id: String) throws(ServiceError) {
        try remove(RecoveryShareRecord.self, id)
    }

    /// Forgets what a registration has left for recovery, with every copy: its data is gone, or must not be read any more. Where it had
    /// ended before, copies stay that another one uses.
    ///
    /// - Parameter sparingThoseInUse: Whether such copies stay in any case, because nothing says that their data is to go.
    func removeRecoveryShares(
        of registration: Registration, sparingThoseInUse: Bool = false
    ) throws(ServiceError) {
        let isSparing = sparingThoseInUse || registration.state != .active
        for share in try recoveryShares(of: registration) {
            let isInUse = try record(Registration.self, share.registrationID)?.state == .active
            guard share.registrationID == registration.id || !isSparing || !isInUse else { continue }
            try removeRecoveryShare(ofRegistration: share.registrationID)
        }
    }

    /// Has a registration keep what the one before it on the same device has left: the files there still hang on it.
    func moveRecoveryShare(fromRegistration old: String, to new: String) throws(ServiceError) {
        guard try copyRecoveryShare(from: old, to: new) else { return }
        try remove(RecoveryShareRecord.self, old)
    }

    /// Has a new registration keep what one of the same person and app has left that has ended: the person left the organisation without
    /// a wipe and is back. Nothing is taken from a registration that is in use, and the former one keeps its copy until its retention ends.
    func copyRecoveryShare(fromRegistration old: String, to new: Registration) throws(ServiceError) {
        guard try record(RecoveryShareRecord.self, new.id) == nil, let former = try record(Registration.self, old),
            former.state != .active, former.id != new.id,
            folded(former.account.id.rawValue) == folded(new.account.id.rawValue),
            folded(former.application.bundleID) == folded(new.application.bundleID)
        else { return }
        _ = try copyRecoveryShare(from: old, to: new.id)
    }

    private func copyRecoveryShare(from old: String, to new: String) throws(ServiceError) -> Bool {
        guard let left = try record(RecoveryShareRecord.self, old) else { return false }
        try save(
            RecoveryShareRecord(
                registrationID: new, sealed: left.sealed, releases: left.releases, origin: left.first))
        return true
    }
}
