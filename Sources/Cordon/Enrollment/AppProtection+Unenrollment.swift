public import CordonIdentity
public import CordonProtocol
internal import CordonSignIn

extension AppProtection {
    /// Ends an account's enrolment: the organisation's data is removed here, and the service told (SDK-EN-07).
    ///
    /// Call before signing the account out, while a token can still be had. The data goes whether or not the service can
    /// be reached (SDK-EN-08); a service that was not told forgets the registration by itself later.
    /// - Returns: ``EnrollmentStatus/unenrolled``, or why it could not be done.
    @discardableResult
    public func unenroll(_ account: AccountID) async -> EnrollmentStatus {
        guard let record = records[account] else { return .notEnrolled }
        let told = await tellService(of: record)
        do throws(ProtectionError) { try await wipe(account) } catch { return .wipeIncomplete }
        let status: EnrollmentStatus = told == nil ? .unenrolled : told ?? .internalError
        broadcast.post(.status(account: account, status))
        return status
    }

    private func tellService(of record: RegistrationRecord) async -> EnrollmentStatus? {
        do {
            let client = try await serviceClient(for: record.account.id, discovery: record.discovery)
            let token = try await accessToken(for: record.account.id, discovery: record.discovery)
            try await client.unregister(registration: record.registrationID, token: token)
            return nil
        } catch let error as ServiceFailure {
            return error.status(network: .checkInNetworkFailure)
        } catch {
            return .authenticationRequired
        }
    }
}
