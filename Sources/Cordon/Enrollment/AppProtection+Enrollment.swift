public import CordonIdentity
public import CordonProtocol
internal import CordonSignIn
internal import Foundation

extension AppProtection {
    /// Binds the app and an account to the service, and puts the account's rules in force (SDK-EN-01).
    ///
    /// The account must be signed in with the token source. Enrolling an account that is enrolled already does nothing
    /// and ends with ``EnrollmentStatus/alreadyEnrolled`` (SDK-EN-03).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(account:_:)``.
    @discardableResult
    public func enroll(_ account: ManagedAccount) async -> EnrollmentStatus {
        let status = await inTurn(account.id) { await $0.enrollNow(account) }
        broadcast.post(.status(account: account.id, status))
        return status
    }

    private func enrollNow(_ account: ManagedAccount) async -> EnrollmentStatus {
        guard records[account.id] == nil else { return .alreadyEnrolled }
        guard configuration.allowsSeveralIdentities || records.isEmpty else { return .singleAccountOnly }
        do throws(ServiceFailure) {
            let discovery = try await ServiceClient.discover(
                at: configuration.service, over: configuration.transport)
            guard discovery.tenant == account.tenant else { return .notEnrolledAccount }
            return try await register(account, with: discovery)
        } catch {
            log("enrolment failed", error)
            return error.status(network: .enrollmentNetworkFailure)
        }
    }

    private func register(
        _ account: ManagedAccount, with discovery: ServiceDiscovery
    ) async throws(ServiceFailure) -> EnrollmentStatus {
        let client: ServiceClient
        let token: String
        do throws(SignInError) {
            client = try await serviceClient(for: account.id, discovery: discovery)
            token = try await accessToken(for: account.id, discovery: discovery)
        } catch { return status(of: error) }
        let nonce = UUID().uuidString
        let result = try await client.register(
            RegistrationRequest(
                application: configuration.application, device: configuration.device, source: .appRegistered,
                nonce: nonce),
            token: token)
        guard result.account.id == account.id else { return .notEnrolledAccount }
        let keys = try await client.keySet()
        let now = configuration.clock.now()
        let record = RegistrationRecord(
            registrationID: result.registrationID, account: account, discovery: discovery, keys: keys,
            envelope: SignedEnvelope(result.envelope), lastCheckIn: now,
            nextCheckIn: now.addingTimeInterval(TimeInterval(result.nextCheckInSeconds)), lastEventID: nil)
        do throws(ProtocolError) {
            let envelope = try record.envelope.accepted(
                by: try keys.verified(pin: configuration.rootKeyPin, at: now),
                for: record.receiver(bundleID: configuration.application.bundleID), after: nil, nonce: nonce, at: now)
            return await adopt(envelope, of: record)
        } catch {
            refuse(error, for: account.id)
            throw .unacceptable(error)
        }
    }
}
