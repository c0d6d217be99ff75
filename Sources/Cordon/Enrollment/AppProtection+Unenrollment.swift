internal import CordonBase
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
        context.publish(outcome, .unenrollment, of: account)
        return outcome.status
    }

    private func unenrollNow(
        _ account: AccountID, wiping: Bool, because reason: UnenrollmentReport.Reason
    ) async -> Outcome {
        if configuration.isExtension { return Outcome(.unsupportedCall) }
        guard !account.rawValue.isEmpty else { return Outcome(.nilAccount) }
        await syncWithDisk()
        let wasRegistered = pending.registered.contains { $0.account.id == account }
        try? pending.change { work in work.registered.removeAll { $0.account.id == account } }
        if accounts.isBeingWiped(account) {
            await resumeWipes()
            if accounts.isBeingWiped(account) { return Outcome(.wipeIncomplete, detail: Self.underWay.reason) }
        }
        guard let record = records[account] else {
            if wasRegistered { return Outcome(.unenrolled) }
            return Outcome(records.isEmpty ? .notEnrolled : .notEnrolledAccount)
        }
        // The removal comes after it, so that a token can still be had; it is not complete yet.
        let report = UnenrollmentReport(reason: reason, doWipe: wiping, succeeded: !wiping)
        let failure = await tellService(
            to: record.registrationID, of: account, tagged: record.deviceTag, at: record.discovery, saying: report)
        do throws(ProtectionError) {
            if wiping {
                try await wipe(account, because: "unenrollment")
            } else {
                try await leave(record, owing: failure == nil ? nil : report)
            }
        } catch {
            return Outcome(.wipeIncomplete, detail: error.reason)
        }
        return failure.map { Outcome($0, network: .checkInNetworkFailure) } ?? Outcome(.unenrolled)
    }

    /// Forgets a registration and leaves the data, closed.
    ///
    /// - Parameter report: What the service could not be told; nil when it knows.
    private func leave(
        _ record: RegistrationRecord, owing report: UnenrollmentReport?
    ) async throws(ProtectionError) {
        let account = record.account.id
        let now = clock.read().now
        if let failure = await eraseLogs(of: record.account).first { throw ProtectionError(.stateUnwritable, failure) }
        try pending.change { work in
            work.logOrders?.removeAll { $0.account == account }
            // One that was begun before, and could not be finished, says the same.
            work.unenrollments.removeAll { $0.registrationID == record.registrationID }
            guard let report else { return }
            work.unenrollments.append(
                PendingWork.Unenrollment(
                    registrationID: record.registrationID, account: account, discovery: record.discovery,
                    deviceTag: record.deviceTag, ended: now, nextAttempt: now + intervals.growing(1), report: report))
        }
        try accounts.removeStored(account)
        await forget(account)
        try await endEnrollment(of: account)
    }

    /// Lets go of what this process holds of an account; its gate is closed, whoever enrols it next.
    func forget(_ account: AccountID) async {
        let lists = accounts.allowedAccounts
        accounts.remove(account)
        accounts.dropRules(of: account)
        await accountLeft(account)
        await vault.lock(account)
        context.publishAllowedAccounts(before: lists)
    }

    /// Asks the service to forget a registration; what went wrong, nil when it has.
    private func tellService(
        to forget: String, of account: AccountID, tagged tag: String?, at discovery: ServiceDiscovery,
        saying report: UnenrollmentReport? = nil
    ) async -> ServiceFailure? {
        do throws(ServiceFailure) {
            let session = try await session(for: account, discovery: discovery)
            do {
                try await session.client.unregister(registration: forget, saying: report, token: session.token)
            } catch  where error.isOfAnotherKey {
                // A new registration with the tag takes the place of the one whose key is gone; it is ended in its stead.
                let heir = try await session.client.register(
                    RegistrationRequest(
                        application: configuration.application, device: device(tagged: tag), source: .appRegistered,
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
        let now = clock.read().now
        for owed in pending.unenrollments
        where Intervals.isDue(owed.nextAttempt, at: now, atMost: Intervals.longestBackOff) {
            _ = await inTurn(owed.account, or: .wipeIncomplete) { await $0.deliver(owed, at: now) }
        }
    }

    private func deliver(_ owed: PendingWork.Unenrollment, at now: Date) async -> Outcome {
        guard records[owed.account] == nil else {
            // Enrolled again: its registration is this very one, or one in whose favour the service has ended this one.
            settle(owed)
            return Outcome(.unenrolled)
        }
        let failure = await tellService(
            to: owed.registrationID, of: owed.account, tagged: owed.deviceTag, at: owed.discovery, saying: owed.report)
        let outcome = failure.map { Outcome($0, network: .checkInNetworkFailure) } ?? Outcome(.unenrolled)
        // A service that does not let the account in has nothing to end.
        let ends: Set<EnrollmentStatus> = [.unenrolled, .registrationGone, .notEnrolled, .notTargeted, .notLicensed]
        if ends.contains(outcome.status) || now.timeIntervalSince(owed.ended) > Intervals.registrationLifetime {
            settle(owed)
        } else {
            try? pending.change { work in
                guard let index = work.unenrollments.firstIndex(where: { $0.registrationID == owed.registrationID })
                else { return }
                work.unenrollments[index].failures += 1
                work.unenrollments[index].nextAttempt = now + intervals.growing(work.unenrollments[index].failures + 1)
            }
        }
        if failure == nil { context.publish(outcome, .unenrollment, of: owed.account) }
        return outcome
    }

    private func settle(_ owed: PendingWork.Unenrollment) {
        try? pending.change { $0.unenrollments.removeAll { $0.registrationID == owed.registrationID } }
    }
}
