public import CordonIdentity
public import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

extension AppProtection {
    /// Asks the service for news of an account and applies them at once, commands included (SRV-CI-019).
    ///
    /// Whatever goes wrong, the rules in force stay in force (SRV-CI-087).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(account:_:)``.
    @discardableResult
    public func checkIn(_ account: AccountID) async -> EnrollmentStatus {
        let status = await inTurn(account) { await $0.checkInNow(account) }
        broadcast.post(.status(account: account, status))
        return status
    }

    private func checkInNow(_ account: AccountID) async -> EnrollmentStatus {
        guard let record = records[account] else { return .notEnrolled }
        do throws(ServiceFailure) {
            return try await exchange(record)
        } catch {
            log("check-in failed", error)
            return error.status(network: .checkInNetworkFailure)
        }
    }

    private func exchange(_ record: RegistrationRecord) async throws(ServiceFailure) -> EnrollmentStatus {
        var record = record
        let account = record.account.id
        let client: ServiceClient
        let token: String
        do throws(SignInError) {
            client = try await serviceClient(for: account, discovery: record.discovery)
            token = try await accessToken(for: account, discovery: record.discovery)
        } catch { return status(of: error) }
        let nonce = UUID().uuidString
        let current = try? verifiedAgain(record)
        let response = try await client.checkIn(
            CheckInRequest(
                appliedSequence: current?.sequence ?? 0, appliedVersion: current?.version,
                appliedDigest: current == nil ? nil : record.envelope.digest, application: configuration.application,
                device: configuration.device, health: [], clientTime: configuration.clock.now(), nonce: nonce),
            registration: record.registrationID, token: token)
        let now = configuration.clock.now()
        record.lastCheckIn = now
        record.nextCheckIn = now.addingTimeInterval(TimeInterval(response.nextCheckInSeconds))
        guard let text = response.envelope else {
            try keep(record)
            return response.statusCode
        }
        let received = SignedEnvelope(text)
        do throws(ProtocolError) {
            let envelope = try await accept(
                received, into: &record, after: current.map { ($0.sequence, record.envelope.digest) }, nonce: nonce,
                client: client)
            record.envelope = received
            return await adopt(envelope, of: record)
        } catch {
            refuse(error, for: account)
            throw .unacceptable(error)
        }
    }

    /// Verifies a new envelope; where its key is not known yet, the key set is fetched once more (SRV-CI-084).
    private func accept(
        _ received: SignedEnvelope, into record: inout RegistrationRecord,
        after current: (sequence: Int64, digest: String)?, nonce: String, client: ServiceClient
    ) async throws(ProtocolError) -> PolicyEnvelope {
        let receiver = record.receiver(bundleID: configuration.application.bundleID)
        let now = configuration.clock.now()
        do {
            return try received.accepted(
                by: try record.keys.verified(pin: configuration.rootKeyPin, at: .distantPast), for: receiver,
                after: current, nonce: nonce, at: now)
        } catch  where error.code == .unknownKey {
            guard let fresh = try? await client.keySet() else { throw error }
            let keys = try fresh.verified(pin: configuration.rootKeyPin, at: now)
            let envelope = try received.accepted(by: keys, for: receiver, after: current, nonce: nonce, at: now)
            record.keys = fresh
            return envelope
        }
    }

    /// Stores an accepted envelope as received, puts it in force, and begins what it commands.
    func adopt(
        _ envelope: PolicyEnvelope, of record: RegistrationRecord
    ) async -> EnrollmentStatus {
        let account = record.account.id
        do {
            try keep(record)
            try await openFiles(of: account)
        } catch {
            configuration.logger.error("accepted rules could not be stored")
            return .internalError
        }
        putInForce(envelope, of: record)
        broadcast.post(.policyChanged(account: account, version: envelope.version, sequence: envelope.sequence))
        let due = envelope.commands.filter { isDue($0, for: record) }
        for command in due { await begin(command) }
        if due.contains(where: { $0.kind == .wipe }) { return .wipeReceived }
        return envelope.policy == nil ? .noPolicyTargeted : .newPolicies
    }

    private func keep(_ record: RegistrationRecord) throws(ServiceFailure) {
        do throws(ProtectionError) { try registrations.save(record) } catch {
            throw .refused(ProblemDetails(title: error.reason, status: 0, code: .internalError))
        }
        records[record.account.id] = record
        let (account, moment) = (record.account.id, record.lastCheckIn)
        rules.withLock { $0[account]?.lastCheckIn = moment }
    }
}
