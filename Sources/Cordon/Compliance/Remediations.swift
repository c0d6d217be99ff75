internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Logging

/// Compliance remediation: what an app does when its token is refused because the account is not protected (SDK-CA-02…06). Use it as
/// ``AppProtection/remediations``.
public actor Remediations {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let stored: StoredAccounts
    private let checkIns: CheckIns
    private let enrollments: Enrollments
    private let unenrollments: Unenrollments
    /// One remediation after another, whichever account it is for; the key says nothing.
    private let turns = SerialTasks<String>()
    /// The accounts whose remediation has ended, while the disk still says that it waits.
    private var ended: Set<AccountID> = []

    init(
        _ context: ProtectionContext, service: ServiceAccess, stored: StoredAccounts, checkIns: CheckIns,
        enrollments: Enrollments, unenrollments: Unenrollments
    ) {
        self.context = context
        self.service = service
        self.stored = stored
        self.checkIns = checkIns
        self.enrollments = enrollments
        self.unenrollments = unenrollments
    }

    /// The executor of all parts of the protection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Enrols an account so that the provider gives it a token; call it in place of ``AppProtection/enroll(_:)``. Several accounts wait
    /// for one another.
    ///
    /// The request is on disk before anything is tried: after a restart it continues, and its result is posted as
    /// ``ProtectionEvent/remediated(_:)``. A second request for an account in progress is dropped (SDK-CA-04).
    ///
    /// ```swift
    /// catch let error where error.code == .protectionRequired {
    ///     if let account = error.details.accountToProtect { try await protection.remediations.remediate(account) }
    /// }
    /// ```
    /// - Parameters:
    ///   - account: The account whose token was refused.
    ///   - silent: Whether to ask the person nothing; then the result can be `interactionRequired`.
    /// - Returns: The result, nil if the request was dropped.
    /// - Throws: ``ProtectionError``: `stateUnwritable`, or `invalidConfiguration` in an extension, which enrols no account.
    @discardableResult
    public func remediate(
        _ account: ManagedAccount, silent: Bool = false
    ) async throws(ProtectionError) -> RemediationResult? {
        guard !context.configuration.isExtension else {
            throw ProtectionError(
                .invalidConfiguration, "an extension enrols no account, so it cannot remediate one",
                hint: "Remediate in the app itself.")
        }
        guard !isRemediating(account.id) else { return nil }
        try context.pending.change {
            $0.remediations.append(PendingWork.Remediation(account: account, silent: silent))
        }
        ended.remove(context.accounts.resolved(account.id))
        // It goes on whatever becomes of the caller.
        return await turns.run("remediation") {
            await Task { await self.carryOut(account, silent: silent) }.value
        }
    }

    /// Whether a remediation of the account waits or is under way.
    public func isRemediating(_ account: AccountID) -> Bool {
        let account = context.accounts.resolved(account)
        guard !ended.contains(account) else { return false }
        return context.pending.remediations.contains { context.accounts.resolved($0.account.id) == account }
    }

    /// Goes on with the remediations that a restart interrupted, and tells of those that ended before it; in the app alone, whose they are.
    func resume() {
        guard !context.configuration.isExtension else { return }
        let ended = context.pending.remediated
        for result in ended { context.events.post(.remediated(result)) }
        if !ended.isEmpty { try? context.pending.change { $0.remediated = [] } }
        let waiting = context.pending.remediations
        guard !waiting.isEmpty else { return }
        context.startUnattended { await self.carryOut(waiting) }
    }

    private func carryOut(_ waiting: [PendingWork.Remediation]) async {
        await turns.run("remediation") {
            for remediation in waiting { _ = await carryOut(remediation.account, silent: remediation.silent) }
        }
    }

    /// One remediation: enrols, and keeps the result until an observer could hear it.
    private func carryOut(_ account: ManagedAccount, silent: Bool) async -> RemediationResult? {
        guard isRemediating(account.id) else { return nil }
        let status: EnrollmentStatus
        if context.accounts[account.id] != nil {
            status = await checkIns.checkIn(account.id)
        } else if let refusal = await makePlace(for: account, silent: silent) {
            status = refusal
        } else {
            status = await enrollments.enroll(account, from: .complianceRemediation, asking: !silent)
        }
        // An account that is enrolled is protected by the rules it has, also when there is no news of them.
        let rules = context.accounts.rules.policies
        let isProtected =
            context.accounts[account.id] != nil
            && rules.policy(of: context.accounts.resolved(.managed(account.id))) != nil
        var result = RemediationResult(
            account: account.id, status: isProtected ? .compliant : RemediationResult.Status(status))
        if isProtected, let report = await compliance(of: account.id, silent: silent) {
            result.status = RemediationResult.Status(rawValue: report.status.rawValue) ?? .serviceFailure
            result.textID = report.textID
        }
        let hasObservers = context.events.hasObservers
        do {
            try context.pending.change { [result] work in
                work.remediations.removeAll { $0.account.id == account.id }
                if !hasObservers { work.remediated.append(result) }
            }
        } catch {
            // The next start does it again; until then it can be asked for anew.
            ended.insert(context.accounts.resolved(account.id))
            context.configuration.logger.error(
                "the end of a remediation could not be noted",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
        if hasObservers { context.events.post(.remediated(result)) }
        return result
    }

    /// Removes the account that an app for one holds, with its data, after the person was asked (SDK-SW-04). Does nothing if the requested
    /// account could not be enrolled for some other reason, or if the service does not answer now.
    ///
    /// - Returns: Why there is no place; nil where there is, or where enrolling finds out why not.
    private func makePlace(for account: ManagedAccount, silent: Bool) async -> EnrollmentStatus? {
        await stored.sync()
        let (accounts, configuration) = (context.accounts, context.configuration)
        guard let confirm = configuration.confirmReplacement, !configuration.isExtension, !accounts.isPlaceFree,
            let present = accounts.placeHolder.flatMap({ accounts[$0]?.account }),
            await enrollments.obstacle(to: account) == .singleAccountOnly
        else { return nil }
        guard !silent else { return .authenticationRequired }
        do {
            // What the service said before does not show that it can be reached.
            let discovery = try await ServiceClient.discover(
                at: configuration.service, over: configuration.transport)
            guard discovery.member(account) != nil else { return .anotherOrganization }
            _ = try await service.session(for: account.id, discovery: discovery)
        } catch {
            context.log("an account is not replaced by one that could not be enrolled", error)
            return error.status(network: .enrollmentNetworkFailure)
        }
        let answer = await Deadline.answer(within: .seconds(300), by: configuration.clock) {
            await confirm(present, account)
        }
        guard answer == true else { return .enrollmentRefused }
        await unenrollments.unenroll(present.id)
        guard accounts[present.id] == nil, !accounts.isBeingWiped(present.id) else { return .removingExistingAccount }
        context.adviseRestart(present.id)
        return nil
    }

    /// What the service says of an enrolled account's compliance when it is asked, else what it said last; nil for nothing
    /// (SRV-CI-010, SRV-CI-022).
    private func compliance(of account: AccountID, silent: Bool) async -> ComplianceReport? {
        guard let record = context.accounts[account] else { return nil }
        let request = RemediationRequest(silent: silent, health: await service.health(for: account))
        do {
            let session = try await service.session(for: account, discovery: record.discovery)
            return try await session.client.compliance(
                request, registration: record.registrationID, token: session.token)
        } catch {
            context.log("compliance could not be asked for", error)
            return context.accounts.state(of: account)?.delivery.compliance
        }
    }
}
