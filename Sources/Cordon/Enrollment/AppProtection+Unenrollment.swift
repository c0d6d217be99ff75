public import CordonIdentity
public import CordonProtocol
internal import CordonVault
internal import Foundation

extension AppProtection {
    /// Ends an account's registration: its rules go, its retries stop, and the service is told (SDK-EN-07).
    ///
    /// Call before signing the account out, while a token can still be had. What happens here happens whether or not the
    /// service can be reached (SDK-EN-08): a service that could not be told is told later, by the wipe's receipt or by
    /// the first ``performDueWork()`` that reaches it; after ninety days it forgets the registration by itself.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - wiping: Whether the organisation's data is removed (SDK-EN-09). False is for apps that remove it themselves:
    ///     sealed files stay, and stay closed until the account is enrolled again.
    ///   - reason: Why, for the service's reports (SRV-CI-013).
    /// - Returns: ``EnrollmentStatus/unenrolled``, or why the service could not be told or the data not removed.
    @discardableResult
    public func unenroll(
        _ account: AccountID, wiping: Bool = true, because reason: UnenrollmentReport.Reason = .accountRemoved
    ) async -> EnrollmentStatus {
        let account = resolved(account)
        let outcome = await inTurn(account, or: .wipeIncomplete) {
            await $0.unenrollNow(account, wiping: wiping, because: reason)
        }
        report(outcome, .unenrollment, of: account)
        return outcome.status
    }

    private func unenrollNow(
        _ account: AccountID, wiping: Bool, because reason: UnenrollmentReport.Reason
    ) async -> Outcome {
        if configuration.isExtension { return Outcome(.unsupportedCall) }
        guard !account.rawValue.isEmpty else { return Outcome(.nilAccount) }
        await syncWithDisk()
        let wasRegistered = life.registered.contains { $0.account.id == account }
        try? changeLife { life in life.registered.removeAll { $0.account.id == account } }
        if isBeingWiped(account) {
            await resumeWipes()
            if isBeingWiped(account) { return Outcome(.wipeIncomplete, detail: Self.underWay.reason) }
        }
        guard let record = records[account] else {
            if wasRegistered { return Outcome(.unenrolled) }
            return Outcome(records.isEmpty ? .notEnrolled : .notEnrolledAccount)
        }
        // The removal comes after it, so that a token can still be had; it is not complete yet.
        let report = UnenrollmentReport(reason: reason, doWipe: wiping, succeeded: !wiping)
        let failure = await tellService(to: record.registrationID, of: account, at: record.discovery, saying: report)
        do throws(ProtectionError) {
            if wiping {
                try await wipe(account)
            } else {
                try await leave(record, telling: failure != nil)
            }
        } catch {
            return Outcome(.wipeIncomplete, detail: error.reason)
        }
        return failure.map { Outcome($0, network: .checkInNetworkFailure) } ?? Outcome(.unenrolled)
    }

    /// Forgets a registration and leaves the data, closed.
    private func leave(_ record: RegistrationRecord, telling isOwed: Bool) async throws(ProtectionError) {
        let account = record.account.id
        let now = watch.read().now
        if isOwed {
            try changeLife { life in
                life.unenrollments.append(
                    LifeRecord.Unenrollment(
                        registrationID: record.registrationID, account: account, discovery: record.discovery,
                        ended: now, nextAttempt: now + intervals.growing(1)))
            }
        }
        try dropLogOrders(of: account)
        try registrations.remove(account)
        await forget(account)
        if records.isEmpty { try forgetSignInOverrides() }
        endNotificationLevel(of: account)
    }

    /// Lets go of what this process holds of an account; its gate is closed, whoever enrols it next.
    func forget(_ account: AccountID) async {
        let lists = allowedAccounts
        records[account] = nil
        gates.withLock { $0[account] = nil }
        seenWarnings[account] = nil
        dropRules(of: account)
        denials.forget(account)
        await vault.lock(account)
        tellAllowedAccounts(before: lists)
    }

    /// Asks the service to forget a registration; what went wrong, nil when it has.
    private func tellService(
        to forget: String, of account: AccountID, at discovery: ServiceDiscovery,
        saying report: UnenrollmentReport? = nil
    ) async -> ServiceFailure? {
        do throws(ServiceFailure) {
            let session = try await session(for: account, discovery: discovery)
            do {
                try await session.client.unregister(registration: forget, saying: report, token: session.token)
            } catch  where error.isOfAnotherKey {
                // A new registration takes the place of the one whose key is gone; it is ended in its stead.
                let heir = try await session.client.register(
                    RegistrationRequest(
                        application: configuration.application, device: configuration.device, source: .appRegistered,
                        nonce: UUID().uuidString),
                    token: session.token)
                try await session.client.unregister(
                    registration: heir.registrationID, saying: report, token: session.token)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Tells the service of the registrations that ended while it could not be reached.
    func deliverUnenrollments() async {
        let now = watch.read().now
        for owed in life.unenrollments
        where Intervals.isDue(owed.nextAttempt, at: now, atMost: Intervals.longestBackOff) {
            // The account may be enrolled anew meanwhile; its new registration has another id and another record.
            let failure = await tellService(to: owed.registrationID, of: owed.account, at: owed.discovery)
            let status = failure?.status(network: .checkInNetworkFailure) ?? .unenrolled
            let isOver =
                failure == nil || [.registrationGone, .notEnrolled].contains(status)
                || now.timeIntervalSince(owed.ended) > Intervals.registrationLifetime
            try? changeLife { life in
                guard let index = life.unenrollments.firstIndex(where: { $0.registrationID == owed.registrationID })
                else { return }
                if isOver {
                    life.unenrollments.remove(at: index)
                } else {
                    life.unenrollments[index].failures += 1
                    life.unenrollments[index].nextAttempt =
                        now + intervals.growing(life.unenrollments[index].failures + 1)
                }
            }
            if failure == nil { report(Outcome(.unenrolled), .unenrollment, of: owed.account) }
        }
    }
}
