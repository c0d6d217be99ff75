internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StorageReader {
    /// The person of a device's access token, provided that app protection serves them.
    ///
    /// - Throws: ``ServiceError`` with status 200 for somebody unknown or not entitled (SRV-CI-033), and with code
    ///   `accountDisabled` as well for an account that was disabled or removed (SRV-TG-32).
    func entitledUser(_ account: ManagedAccount) throws(ServiceError) -> DirectoryUser {
        guard try !isDisabled(account.id) else { throw .accountDisabled("the account was disabled or removed") }
        guard let user = try record(DirectoryUser.self, folded(account.id.rawValue)), user.isEntitled else {
            throw .enrollment(.notLicensed, "the account is not entitled to app protection")
        }
        return user
    }

    /// Whether the directory says that an account is disabled, or was there and is gone; somebody whom it never knew is
    /// neither (SRV-TG-32).
    func isDisabled(_ id: AccountID) throws(ServiceError) -> Bool {
        let id = folded(id.rawValue)
        if let user = try record(DirectoryUser.self, id) { return !user.accountEnabled }
        return try record(RemovedPerson.self, id) != nil
    }

    /// A registration, provided that it is the caller's own.
    ///
    /// - Throws: ``ServiceError``: status 220 when unknown, `wrongKey`, or status 214 for another account.
    func registration(_ id: String, of caller: DeviceCaller) throws(ServiceError) -> Registration {
        guard let registration = try record(Registration.self, id) else {
            throw .enrollment(.registrationGone, "the registration is not known")
        }
        guard registration.key.thumbprint == caller.keyThumbprint else {
            throw ServiceError(.wrongKey, "the request is signed with another key than the registration's")
        }
        guard registration.account.id == caller.account.id else {
            throw .enrollment(.notEnrolledAccount, "the access token is of another account than the registration")
        }
        return registration
    }

    /// A registration of the caller that still counts.
    ///
    /// - Throws: ``ServiceError`` as ``registration(_:of:)``, and status 220 when it is closed or has not checked in
    ///   for too long (SRV-CI-069).
    func activeRegistration(
        _ id: String, of caller: DeviceCaller, at now: Date, lifetime: Duration
    ) throws(ServiceError) -> Registration {
        let registration = try registration(id, of: caller)
        guard registration.state == .active,
            now.timeIntervalSince(registration.lastSync) < Double(lifetime.wholeSeconds)
        else { throw .enrollment(.registrationGone, "the registration has ended") }
        return registration
    }

    /// The wipes of a registration that a device may still be told to do.
    func openOperations(of registrationID: String) throws(ServiceError) -> [WipeOperation] {
        try records(WipeOperation.self, where: (.registration, registrationID)).filter(\.state.isOpen)
    }
}
