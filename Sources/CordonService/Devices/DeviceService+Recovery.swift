internal import CordonBase
internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension DeviceService {
    /// Keeps the share of an account's key for a person who forgets the PIN, in place of one that was left before. When this returns,
    /// it is durable: the app may let the key hang on it.
    ///
    /// - Throws: ``ServiceError``: `invalid` for a text that is not a sealed share; status 203 where the token does not say when the person signed in,
    ///   since such a sign-in could not be told from an old one when the share is asked for; and what a check-in of the registration throws.
    public func keepRecoveryShare(
        _ share: RecoveryShare, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) {
        guard let bytes = Base64URL.decode(share.sealed), RecoveryShare.sizes.contains(bytes.count) else {
            throw ServiceError(
                .invalid, "the share is not acceptable",
                problems: [
                    .init(
                        member: "sealed",
                        reason:
                            "not base64url of \(RecoveryShare.sizes.lowerBound) to \(RecoveryShare.sizes.upperBound) bytes"
                    )
                ])
        }
        let (now, lifetime) = (store.now, configuration.registrationLifetime)
        try await store.change(for: caller) { change in
            var registration = try change.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            _ = try change.entitledUser(caller.account)
            guard caller.authenticated != nil else {
                throw ServiceError.enrollment(
                    .authenticationRequired, "the token does not say when the person signed in (auth_time)")
            }
            let known = try change.record(RecoveryShareRecord.self, id)
            guard known?.sealed != share.sealed else { return }
            try change.save(
                RecoveryShareRecord(
                    registrationID: id, sealed: share.sealed, releases: known?.recentReleases(at: now) ?? [],
                    origin: known?.origin))
            try change.audit(of: &registration, "recoveryShare.keep")
            try change.save(registration)
        }
    }

    /// Gives the share out that the registration has left, to a person who has just signed in.
    ///
    /// - Throws: ``ServiceError``: `staleSignIn` where the sign-in is older than ``RecoveryShare/freshness`` or its time is not known,
    ///   `notFound` where nothing was left, `conflict` while the account's data is to be wiped, also from the registration that a copy is from, `tooManyRequests`
    ///   after ``RecoveryShare/mostReleases`` of it and its copies in a day, and what a check-in of the registration throws.
    public func releaseRecoveryShare(
        ofRegistration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> RecoveryShare {
        let (now, lifetime) = (store.now, configuration.registrationLifetime)
        return try await store.change(for: caller) { change in
            let registration = try change.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            _ = try change.entitledUser(caller.account)
            guard let signedIn = caller.authenticated,
                now.timeIntervalSince(signedIn) <= RecoveryShare.freshness
            else { throw ServiceError(.staleSignIn, "the share of a key is given out after a fresh sign-in alone") }
            let shares = try change.recoveryShares(of: registration)
            for holder in Set(shares.map(\.registrationID)).union([id]) {
                if let holder = try change.record(Registration.self, holder), try change.hasWipe(of: holder) {
                    throw ServiceError(.conflict, "the account's data is to be removed")
                }
            }
            guard try !change.isBlocked(registration.account.id) else {
                throw ServiceError(.conflict, "the account's data is to be removed")
            }
            guard let own = shares.first(where: { $0.registrationID == id }) else {
                throw ServiceError(.notFound, "the registration has left no share")
            }
            let releases = own.recentReleases(at: now)
            guard releases.count < RecoveryShare.mostReleases else {
                let wait = releases.first.map { 86_400 - now.timeIntervalSince($0) } ?? 86_400
                throw ServiceError(
                    .tooManyRequests, "the share was given out too often", retryAfterSeconds: Int(wait.rounded(.up)))
            }
            for var share in shares {
                share.releases = releases + [now]
                try change.save(share)
            }
            try change.audit(AuditRecord.Actor(registration), "recoveryShare.release", "registration/\(id)")
            return RecoveryShare(sealed: own.sealed)
        }
    }

    /// Forgets the share that the registration has left, with its copies but those that another active registration uses; one that is not
    /// there is no error. For an app whose key hangs on none any more.
    ///
    /// - Throws: ``ServiceError``: what a check-in of the registration throws.
    public func forgetRecoveryShare(
        ofRegistration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) {
        let (now, lifetime) = (store.now, configuration.registrationLifetime)
        try await store.change(for: caller) { change in
            var registration = try change.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            guard try change.record(RecoveryShareRecord.self, id) != nil else { return }
            try change.removeRecoveryShares(of: registration, sparingThoseInUse: true)
            try change.audit(of: &registration, "recoveryShare.forget")
            try change.save(registration)
        }
    }
}
