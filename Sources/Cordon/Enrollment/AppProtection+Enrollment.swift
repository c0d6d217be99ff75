public import CordonIdentity
public import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

extension AppProtection {
    /// Registers an account and enrols it at once, which puts its rules in force (SDK-EN-01).
    ///
    /// The account must be signed in with the token source. It stays registered when enrolling fails, for whatever
    /// cause, and is tried again at the latest a day later (SDK-EN-02). An account that is enrolled already is left as it
    /// is, with ``EnrollmentStatus/alreadyEnrolled`` (SDK-EN-03).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(_:)``.
    @discardableResult
    public func enroll(_ account: ManagedAccount) async -> EnrollmentStatus {
        await enroll(account, from: .appRegistered)
    }

    /// Signs somebody in and enrols the account, for apps without a sign-in of their own (SDK-EN-10).
    ///
    /// An account that is signed in already, so that a token can be had without asking anybody, is enrolled at once (CQ-28).
    /// A failure is not tried again (SDK-EN-12); where nobody was signed in, its report names the sign-in name that was given,
    /// or nobody. Before a person is asked the service is verified, as by ``verifyService()``. Afterwards read
    /// ``enrolledAccounts`` for the account (SDK-EN-13).
    /// - Parameter name: The sign-in name to begin with; nil takes the account that the device's management names, else
    ///   asks (SDK-EN-11).
    /// - Returns: How it went; ``EnrollmentStatus/signInCancelled`` when the person gave up.
    @discardableResult
    public func signInAndEnroll(_ name: String? = nil) async -> EnrollmentStatus {
        let expected = configuration.expectedAccounts
        let named = name == nil && !configuration.isExtension ? await deviceAccount() : nil
        let hint = name ?? (named ?? expected.management)?.rawValue
        guard !configuration.isExtension, let signIn = configuration.signIn else {
            context.publish(Outcome(.unsupportedCall), .enrollment, of: AccountID(hint ?? ""))
            return .unsupportedCall
        }
        if let known = await signedIn(as: hint) {
            let status = await enroll(known, from: .loginAndEnroll)
            // A service that does not take the token wants a fresh one.
            guard status == .authenticationRequired else { return status }
        }
        // Nobody types a password for a service that could not enrol them, or is not the organisation's.
        do throws(ServiceFailure) { _ = try await verifiedService() } catch {
            context.log("nobody was asked to sign in, since the service could not be verified", error)
            let outcome = Outcome(error, network: .discoveryFailed)
            context.publish(outcome, .enrollment, of: AccountID(hint ?? ""))
            return outcome.status
        }
        let account: ManagedAccount
        do throws(SignInError) {
            account = try await signIn(hint)
        } catch {
            let outcome = Outcome(ServiceFailure.signIn(error), network: .enrollmentNetworkFailure)
            context.publish(outcome, .enrollment, of: AccountID(hint ?? ""))
            return outcome.status
        }
        return await enroll(account, from: .loginAndEnroll)
    }

    /// The accounts that the app has registered, enrolled or not (SDK-EN-26).
    public var registeredAccounts: [ManagedAccount] {
        pending.registered.map(\.account).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Enrols an account in its turn, and remembers it as its source says.
    func enroll(
        _ account: ManagedAccount, from source: RegistrationRequest.Source, asking: Bool = true
    ) async -> EnrollmentStatus {
        if let refusal = mistake(in: account) {
            context.publish(Outcome(refusal), .enrollment, of: account.id)
            return refusal
        }
        let outcome = await inTurn(account.id, or: .removingExistingAccount) {
            await $0.enrollNow(account, from: source, asking: asking)
        }
        let isLasting = outcome.status.didSucceed || outcome.status == .alreadyEnrolled
        if outcome.status == .alreadyEnrolled {
            configuration.logger.warning(
                "an account that is enrolled was registered again", metadata: ["account": "\(account.id)"])
        }
        let now = clock.read().now
        let next =
            now
            + intervals.afterFailedEnrollment(
                outcome.status, failures: failures(of: account.id) + 1, retryAfter: outcome.retryAfter)
        try? pending.change { work in
            let known = work.registered.firstIndex { $0.account.id == account.id }
            guard known != nil || isLasting || source == .appRegistered else { return }
            let index = known ?? work.registered.endIndex
            if known == nil {
                work.registered.append(PendingWork.Registered(account: account, source: source, nextAttempt: next))
            }
            // Whoever registers an account again may know it better than the first time (SDK-EN-01).
            work.registered[index].account = account
            work.registered[index].failures = isLasting ? 0 : work.registered[index].failures + 1
            work.registered[index].nextAttempt = next
            work.registered[index].planned = now
            work.registered[index].lastStatus = outcome.status
        }
        context.publish(outcome, .enrollment, of: account.id)
        return outcome.status
    }

    private func failures(of account: AccountID) -> Int {
        pending.registered.first { $0.account.id == account }?.failures ?? 0
    }

    /// What is wrong with the call itself; such an account is not remembered.
    private func mistake(in account: ManagedAccount) -> EnrollmentStatus? {
        if configuration.isExtension { return .unsupportedCall }
        return account.id.rawValue.isEmpty ? .nilAccount : nil
    }

    private func enrollNow(
        _ account: ManagedAccount, from source: RegistrationRequest.Source, asking: Bool
    ) async -> Outcome {
        await syncWithDisk()
        if accounts.isBeingWiped(account.id) { await resumeWipes() }
        await deviceAccount()
        if let obstacle = obstacle(to: account) { return Outcome(obstacle) }
        accounts.reservePlace(for: account.id)
        defer { accounts.releasePlace() }
        if let confirm = configuration.confirmEnrollment {
            guard asking else { return Outcome(.authenticationRequired) }
            let answer = await Deadline.answer(within: .seconds(300), by: configuration.clock) {
                await confirm(account)
            }
            guard answer == true else { return Outcome(.enrollmentRefused) }
        }
        let discovery: ServiceDiscovery
        do throws(ServiceFailure) { discovery = try await discovered() } catch {
            context.log("the service could not be found", error)
            let isTimeout = error.status(network: .discoveryFailed) == .timedOut
            // A host without a service belongs to no organisation that uses one: a day is soon enough (SRV-CI-062).
            let wait = error.isNotThere ? Int(Intervals.day) : error.retryAfter
            return Outcome(isTimeout ? .timedOut : .discoveryFailed, detail: error.reason, retryAfter: wait)
        }
        guard let member = discovery.member(account) else { return Outcome(.anotherOrganization) }
        do throws(ServiceFailure) {
            let status = try await register(member, with: discovery, from: source, inPlaceOf: nil)
            if status == .newPolicies { adviseRestart(account.id) }
            return Outcome(status)
        } catch {
            context.log("enrolment failed", error)
            return Outcome(error, network: .enrollmentNetworkFailure)
        }
    }

    /// What is in the way of enrolling an account on this device, before anybody is asked.
    func obstacle(to account: ManagedAccount) -> EnrollmentStatus? {
        let expected = configuration.expectedAccounts
        // A device's management may know the account by its sign-in name (SDK-ID-02).
        let names = [account.id, AccountID(account.userPrincipalName)]
        if let other = expected.management, !names.contains(resolved(other)) { return .unexpectedAccount }
        if let other = accounts.deviceAccount, !names.contains(resolved(other)) { return .deviceManagedForAnotherAccount }
        if let other = expected.deviceOwner, !names.contains(resolved(other)) { return .notDeviceAccount }
        if records[account.id] != nil { return .alreadyEnrolled }
        if accounts.isBeingWiped(account.id) { return .removingExistingAccount }
        if !accounts.admits(account) {
            broadcast.post(.accountNotAllowed(account.id))
            return .enrollmentRefused
        }
        if accounts.allowsSeveralManagedAccounts { return nil }
        guard accounts.isPlaceFree, !accounts.isEnrollingAnotherAccount(than: account.id) else { return .singleAccountOnly }
        return accounts.isRemovingAnotherAccount(than: account.id) ? .removingExistingAccount : nil
    }

    /// Registers an account's key at the service and puts the first envelope in force.
    ///
    /// The service's keys come first: only one that the pinned root key vouches for is sent a token.
    ///
    /// - Parameter previous: The record of a registration that the service has forgotten; it stays until this succeeds.
    func register(
        _ account: ManagedAccount, with discovery: ServiceDiscovery, from source: RegistrationRequest.Source,
        inPlaceOf previous: RegistrationRecord?
    ) async throws(ServiceFailure) -> EnrollmentStatus {
        let keys = try await verifiedKeys(of: discovery)
        let keysFetched = configuration.clock.now()
        let session = try await session(for: account.id, discovery: discovery)
        let nonce = UUID().uuidString
        let tag = deviceTag(of: account, known: previous?.deviceTag)
        let result = try await session.client.register(
            RegistrationRequest(
                application: application(of: account), device: device(tagged: tag), source: source, nonce: nonce),
            token: session.token)
        guard result.account.id == account.id else { return .notEnrolledAccount }
        let now = configuration.clock.now()
        var record = RegistrationRecord(
            generation: previous?.generation ?? 0, registrationID: result.registrationID, account: account,
            discovery: discovery, keys: keys, keysFetched: keysFetched, envelope: SignedEnvelope(result.envelope),
            lastCheckIn: now,
            nextCheckIn: now + intervals.afterCheckIn(serviceAsksFor: result.nextCheckInSeconds), planned: now,
            isAccountDisabled: false, deviceTag: tag)
        do throws(ProtocolError) {
            let envelope = try await accept(
                record.envelope, into: &record, after: nil, nonce: nonce, client: session.client)
            return await adopt(envelope, of: record)
        } catch {
            refuse(error, for: account.id)
            throw .unacceptable(error)
        }
    }
}
