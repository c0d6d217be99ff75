internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// Accounts as they are stored: put in force again at the start, and when another process of the app has changed them; what a
/// restored copy of the data folder and a clock that goes back do to them.
actor StoredAccounts {
    private let context: ProtectionContext
    private let changes: AccountChanges
    private let wipes: Wipes
    private let pins: PINKeeper
    private let commands: Commands
    /// How long the start waits for PINs to be taken away.
    private static let resetDeadline = Duration.seconds(10)
    /// Whether the device's clock was found turned back.
    private var wasTurnedBack = false
    /// How many damaged registrations the last look has left in their places: they are told of once.
    private var leftInPlace = 0

    init(
        _ context: ProtectionContext, changes: AccountChanges, wipes: Wipes, pins: PINKeeper, commands: Commands
    ) {
        self.pins = pins
        self.context = context
        self.changes = changes
        self.wipes = wipes
        self.commands = commands
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Reads what is stored at the start, and finishes what a crash interrupted, also of what was commanded.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable` when it cannot be told what is stored.
    func load() async throws(ProtectionError) {
        let condition = try context.pending.load()
        switch condition {
        case .sound, .absent: break
        case .doubted: context.publishSetAside("what was to be tried again was removed or put back")
        case .damaged: context.publishSetAside("what was to be tried again could not be read")
        case .newer: context.publishSetAside("what is to be tried again is from a newer version of the app")
        }
        context.clock.remember(context.pending.latestMoment)
        context.clock.remember(context.pending.runTime)
        context.clock.setInDoubt(context.pending.isMomentInDoubt == true)
        let lostWipes = try await wipes.resumeAtStart()
        var stored = try context.accounts.load()
        publishDamaged(stored)
        if await wipes.resumeLost() { stored = try context.accounts.load() }
        if stored.newer > 0 {
            context.publishSetAside("\(stored.newer) registrations are from a newer version of the app")
        }
        if condition == .absent, !stored.records.isEmpty {
            // It is written at every enrolment.
            context.clock.setInDoubt(true)
            try? context.pending.change { $0.isMomentInDoubt = true }
        }
        await takeOver(stored)
        await denyUnregistered(stored)
        // Who had the place of an app for one managed account has it again: the first one takes it.
        let holder = context.pending.placeHolder
        let records =
            stored.records.filter { $0.account.id == holder } + stored.records.filter { $0.account.id != holder }
        var resets: [Command] = []
        for record in records where !context.accounts.isBeingWiped(record.account.id) {
            // A wipe that goes on beside this may have come to its end.
            if context.pending.hasLeft(record) || context.accounts.hasNoRegistration(record.account.id) { continue }
            context.accounts.setDoubted(record.account.id, stored.doubted.contains(record.account.id))
            context.accounts.setUncounted(record.account.id, stored.uncounted.contains(record.account.id))
            resets += await restore(record, isNews: false)
            guard lostWipes > 0 else { continue }
            context.accounts.denyEverything(of: record)
            await changes.publishRules(of: record.account.id)
        }
        // What ends depends on who stays.
        await finishLeaves()
        guard !resets.isEmpty else { return }
        // Before anybody is asked for a PIN that goes. What holds one up, such as another app that has its lock, must not keep the app from
        // starting: it goes as soon as it can then.
        let work = Task { [commands, resets] in await commands.resumeResets(resets) }
        _ = await Deadline.answer(within: Self.resetDeadline, by: context.configuration.clock) { await work.value }
    }

    /// Ends an account's registration, and leaves its data, closed. The caller has noted that it leaves, and has its turn. Every step may be
    /// repeated, and the registration goes last: until it has gone, the note has the rest done again.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func leave(_ account: ManagedAccount) async throws(ProtectionError) {
        // Another organisation may ask for the log later.
        if let failure = await changes.eraseLogs(of: account).first {
            throw ProtectionError(.stateUnwritable, failure)
        }
        await changes.forget(account.id)
        try await changes.endEnrollment(of: account.id)
        try context.accounts.removeStored(account.id)
        try context.pending.endLeave(of: account.id)
    }

    /// The registration of an account whose leave has not come to its end.
    nonisolated func cutOff(_ account: AccountID) throws(ProtectionError) -> RegistrationRecord? {
        guard let record = try context.accounts.stored(account), context.pending.hasLeft(record) else { return nil }
        return record
    }

    /// Finishes the leaves that a kill or a failure has cut off, or that another process has noted. What fails is tried again at the next look.
    /// An extension closes such an account alone: it does not have all that ends with an enrolment.
    private func finishLeaves() async {
        for account in Set(context.pending.unenrollments.filter { $0.leaves != false }.map(\.account)) {
            // An exchange under way finishes the leave itself, or enrols the account again.
            guard !context.accounts.isBeingWiped(account), !context.exchanges.isRunning(account) else { continue }
            do {
                try await context.exchanges.run(account) { () async throws(ProtectionError) in
                    // Another process may have enrolled it again since the last look.
                    try context.pending.load()
                    let record = try context.accounts.stored(account)
                    guard context.pending.isLeaving(account, record) else { return }
                    // Close the account first; removing the rest may fail and is tried again.
                    await changes.forget(account)
                    guard !context.configuration.isExtension else { return }
                    if let record { try context.pending.noteRegistration(ofLeaving: record) }
                    let gone = ManagedAccount(id: account, tenant: TenantID(""), userPrincipalName: "")
                    try await leave(record?.account ?? gone)
                }
            } catch {
                context.configuration.logger.error(
                    "an account has not left yet", metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
            }
        }
    }

    /// Takes up what another process of the app has stored or removed meanwhile.
    func sync() async {
        await changes.takeUpStored()
        // What cannot be told changes nothing: the next look will know.
        guard let stored = try? context.accounts.load(), (try? context.pending.load()) != nil,
            let wiped = try? context.wipes.unfinishedAccounts()
        else { return }
        context.clock.remember(context.pending.runTime)
        context.clock.setInDoubt(context.pending.isMomentInDoubt == true)
        publishDamaged(stored)
        let present = stored.records.filter { $0.wipe == nil && !wiped.contains($0.account.id) }
        // Who is enrolled while this waits is not among them, and stays.
        let known = context.accounts.records.keys
        var resets: [Command] = []
        for record in present where isNews(record) {
            // It may have been wiped, or have left, while another one was restored.
            guard !context.accounts.isBeingWiped(record.account.id),
                !context.accounts.hasNoRegistration(record.account.id), !context.pending.hasLeft(record)
            else { continue }
            let isDoubted = stored.doubted.contains(record.account.id)
            let before = context.accounts[record.account.id]
            // What is in doubt says nothing against what is known.
            if isDoubted, before != nil { continue }
            let wasUncounted = context.accounts.isUncounted(record.account.id)
            // Beside the rules in force the record before has the same ones.
            let isUncounted =
                stored.uncounted.contains(record.account.id) && (wasUncounted || before?.envelope != record.envelope)
            if isUncounted, wasUncounted { continue }
            // What was denied in doubt holds again where another process has settled it, or the counter has.
            let isDenied = context.accounts.isDoubted(record.account.id) || wasUncounted
            context.accounts.setDoubted(record.account.id, isDoubted)
            context.accounts.setUncounted(record.account.id, isUncounted)
            context.accounts.put(record)
            if isDenied || before?.envelope != record.envelope {
                resets += await restore(record, wasUncounted: wasUncounted)
            } else {
                context.accounts.takeOverContact(of: record)
            }
        }
        for account in known where !present.contains(where: { $0.account.id == account }) {
            // What was taken away from outside, or damaged, has ended nothing: the account stays until it is wiped or leaves.
            guard context.accounts.isBeingWiped(account) || context.accounts.hasNoRegistration(account) else {
                continue
            }
            await changes.forget(account)
            // Another process has ended what is stored of it, and cannot know what waits here.
            context.telemetry.forget(account)
        }
        await finishLeaves()
        await denyUnregistered(stored)
        // The process that heard of them may have been ended. One account's turn, which the caller may have, waits for no other one's.
        if !resets.isEmpty {
            context.startUnattended { [commands, resets] in await commands.resumeResets(resets) }
        }
    }

    private func publishDamaged(_ stored: RegistrationStore.Contents) {
        if stored.damaged > leftInPlace {
            context.publishSetAside("\(stored.damaged) stored registrations could not be read")
        }
        leftInPlace = stored.leftInPlace
    }

    /// Whether a stored record is newer than what is known of its account here, or may have been counted by now.
    private nonisolated func isNews(_ record: RegistrationRecord) -> Bool {
        guard let known = context.accounts[record.account.id] else { return true }
        if known.generation < record.generation { return true }
        return context.accounts.isUncounted(record.account.id) && known.generation == record.generation
            && known.envelope == record.envelope
    }

    /// Denies everything of accounts whose key is here while their registration was removed from outside: neither a wipe nor an
    /// end of the enrolment has done that. A new enrolment has the service say again what holds, also a wipe that it has commanded.
    private func denyUnregistered(_ stored: RegistrationStore.Contents) async {
        let debugged = DebugPolicies.account(in: context)
        // Another process has removed it since, or the state counter says only now that it has left. Else it would deny to others, too.
        for account in context.accounts.rules.managed
        where account != debugged && context.accounts[account] == nil && context.accounts.hasNoRegistration(account) {
            await changes.forget(account)
        }
        guard let keys = try? await context.vault.accounts() else { return }
        for account in keys
        where account != debugged && context.accounts[account] == nil && !context.accounts.isUnreadable(account) {
            let isKnown = stored.records.contains { $0.account.id == account }
            guard !isKnown, !context.accounts.isBeingWiped(account), !context.accounts.hasNoRegistration(account) else {
                continue
            }
            context.publishSetAside("the registration of an account is gone whose key is here")
            context.accounts.denyEverything(ofUnregistered: account)
            await changes.publishRules(of: account)
        }
    }

    /// Puts a stored record in force again, or denies everything where it is not what the service signed, or not counted; carries out a
    /// wipe that it commands, without waiting for it.
    ///
    /// - Parameters:
    ///   - isNews: Whether observers are told of what it changes; see ``AccountChanges/activate(_:of:isNews:)``.
    ///   - wasUncounted: Whether only the number was missing for the rules to come in force when they came.
    /// - Returns: The resets of PINs that it commands.
    private func restore(
        _ record: RegistrationRecord, isNews: Bool = true, wasUncounted: Bool = false
    ) async -> [Command] {
        let account = record.account.id
        context.accounts.put(record)
        var owedWipe: Command?
        var resets: [Command] = []
        let isUncounted = context.accounts.isUncounted(account)
        do {
            let keys = try trustedKeys(of: record)
            let envelope = try verifiedEnvelope(of: record, by: keys)
            try requireContact(of: record, by: keys)
            if context.accounts.isDoubted(account) {
                context.configuration.logger.error("stored state is older than what was in force")
                context.events.post(.stateRolledBack(account: account))
                context.accounts.denyEverything(of: record)
            } else {
                if isUncounted {
                    context.configuration.logger.error("the state counter does not take the number of the stored rules")
                } else {
                    await changes.activate(envelope, of: record, isNews: isNews)
                }
                let due = envelope.commands.filter { context.isDue($0, for: record) }
                owedWipe = due.first { $0.kind == .wipe }
                resets = due.filter { $0.kind == .resetPIN }
            }
            // It may have been removed while its rules were put in force.
            guard context.accounts.holds(record) else { return [] }
            // A stored wipe would have ended the registration: a crash or a failing disk kept it from beginning.
            if owedWipe == nil, !isUncounted {
                try await changes.open(account)
                if wasUncounted, !context.accounts.isDoubted(account), !context.configuration.isExtension {
                    // The next check-in says that these are in force, and the service does not send them again.
                    await announce(envelope, of: record)
                    await changes.requestLogs(envelope.logRequests ?? [], of: account)
                }
            } else {
                await changes.close(record)
            }
        } catch let error as ProtocolError {
            context.publishSetAside("the stored rules are not what the service signed: \(error.reason)")
            context.accounts.denyEverything(of: record)
        } catch {
            guard context.accounts.holds(record) else { return [] }
            context.publishSetAside("the account's key cannot be opened")
            context.accounts.denyEverything(of: record)
        }
        await changes.publishRules(of: account)
        if let owedWipe { context.startUnattended { [wipes] in await wipes.begin(owedWipe) } }
        return resets
    }

    /// Tells of rules that the service has sent and that are in force now.
    func announce(_ envelope: PolicyEnvelope, of record: RegistrationRecord) async {
        await wipes.settleUnreadable()
        context.events.post(
            .policyChanged(account: record.account.id, version: envelope.version, sequence: envelope.sequence))
        context.telemetry.record(
            .policyApplied, of: record.account, [.sdkVersion: context.configuration.application.sdkVersion])
    }

    /// Takes over what a version before has stored: sealed and counted, once. What cannot be taken over now is tried again at the next
    /// start, and records of versions before are taken until then.
    private func takeOver(_ stored: RegistrationStore.Contents) async {
        guard !context.seal.refusesUncounted else { return context.seal.noteTakenOver() }
        do {
            for record in stored.records {
                try context.launches.takeOver(record.account.id)
                try await pins.takeOver(record.account.id)
            }
            for account in stored.former { try context.accounts.takeOver(account) }
            try context.pending.takeOver()
            for account in (try? await context.vault.accounts()) ?? []
            where !stored.records.contains(where: { $0.account.id == account }) {
                try context.accounts.noteAbsence(of: account)
            }
            context.seal.noteTakenOver()
            if !stored.records.isEmpty { context.seal.noteSealed() }
        } catch {
            context.configuration.logger.error(
                "stored state could not be sealed", metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// The stored envelope, its signature and receiver checked against the pinned root key once more (SRV-CI-083).
    nonisolated func verifiedAgain(_ record: RegistrationRecord) throws(ProtocolError) -> PolicyEnvelope {
        try verifiedEnvelope(of: record, by: trustedKeys(of: record))
    }

    /// The stored keys, checked against the pinned root key once more. Validity in time was checked when the set arrived; a device
    /// that is offline for long keeps its rules.
    private nonisolated func trustedKeys(of record: RegistrationRecord) throws(ProtocolError) -> JSONWebKeySet {
        try context.configuration.trusted(record.keys, at: .distantPast)
    }

    private nonisolated func verifiedEnvelope(
        of record: RegistrationRecord, by keys: JSONWebKeySet
    ) throws(ProtocolError) -> PolicyEnvelope {
        try record.envelope.verified(
            by: keys, for: record.receiver(bundleID: context.configuration.application.bundleID))
    }

    /// Checks that the time of the last contact is not later than what the service signed.
    private nonisolated func requireContact(
        of record: RegistrationRecord, by keys: JSONWebKeySet
    ) throws(ProtocolError) {
        guard let text = record.contact else { return }
        let proof = try ContactProof(verifying: text, by: keys, forRegistration: record.registrationID)
        guard record.lastCheckIn.timeIntervalSince1970 < Double(proof.clientTime) + 1 else {
            throw ProtocolError(.replayed, "the last contact is older than was noted")
        }
    }

    /// Keeps the latest moment and how long the machine has run, and tells once of a clock that was turned back. While that cannot be
    /// written down, no time counts before the service has answered.
    func recordClock() {
        let isTurnedBack = context.clock.read().turnedBack > 0
        if isTurnedBack, !wasTurnedBack { context.events.post(.clockTurnedBack) }
        wasTurnedBack = isTurnedBack
        let (latest, run) = (context.clock.latestMoment, context.clock.runTime())
        // A minute is exact enough, and spares the disk.
        if latest.timeIntervalSince(context.pending.latestMoment) >= 60 || run.isNews(after: context.pending.runTime) {
            try? context.pending.change { work in
                work.latestMoment = max(work.latestMoment, latest)
                if run.total > work.runTime?.total ?? -1 { work.runTime = run }
            }
        }
        context.clock.setRunTimeLost(run.isLost(beyond: context.pending.keptRunTime))
    }

    /// The service has answered: times count from now on, and it knows of the refusals and outcomes that it was told.
    func recordContact(reporting refusals: [RefusedEnvelope], _ outcomes: [PendingWork.Outcome]) {
        context.clock.trustClock()
        wasTurnedBack = false
        let latest = context.clock.latestMoment
        try? context.pending.change { work in
            work.latestMoment = latest
            work.isMomentInDoubt = nil
            work.refusals.removeAll { refusals.contains($0) }
            work.outcomes?.removeAll { outcomes.contains($0) }
        }
    }
}
