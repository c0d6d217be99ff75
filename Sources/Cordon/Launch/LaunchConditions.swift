internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

/// What the launch conditions say of this device now: the facts that Cordon knows itself, with those that the app states.
struct LaunchConditions: Sendable {
    /// Longer ago than any limit: what was never done is due.
    private static let longAgo = Duration.seconds(Int64(1) << 40)
    /// For how long what the person has shown at the gate counts as shown just now: rules may ask again at every opening, with no time
    /// for the look that follows.
    private static let moment = Duration.seconds(60)

    private let context: ProtectionContext
    private let rules: EnforcedRules
    private let gates: GateStates
    private let pins: PINKeeper

    init(_ context: ProtectionContext, rules: EnforcedRules, gates: GateStates, pins: PINKeeper) {
        self.context = context
        self.rules = rules
        self.gates = gates
        self.pins = pins
    }

    /// What the rules say of an account's launch now, with every reason.
    ///
    /// - Parameter shown: What the person has shown on the present attempt at the gate.
    nonisolated(nonsending) func decision(
        of account: AccountID, on occasion: LaunchOccasion, after shown: Shown = []
    ) async -> PolicyDecision {
        await look(at: account, on: occasion, after: shown).decision
    }

    /// Does what ``decision(of:on:after:)`` does; with the decision, after what time without the person the same rules ask for the PIN on the
    /// same device, nil where they ask for none.
    nonisolated(nonsending) func look(
        at account: AccountID, on occasion: LaunchOccasion, after shown: Shown = []
    ) async -> (decision: PolicyDecision, pinPeriod: Duration?) {
        let stated = await context.statedFacts(for: account)
        // Nothing is waited for between the two, so that no other rules, and no other answer of the app, come between them.
        return (
            decision(of: account, on: occasion, after: shown, given: stated), pinPeriod(of: account, given: stated)
        )
    }

    /// What a person shows at a gate; a finger or a face counts as the PIN.
    struct Shown: OptionSet {
        let rawValue: Int
        static let pin = Self(rawValue: 1)
        static let signIn = Self(rawValue: 2)
    }

    private func decision(
        of account: AccountID, on occasion: LaunchOccasion, after shown: Shown, given stated: StatedFacts
    ) -> PolicyDecision {
        var question = Question(.launch, owner: .managed(account))
        question.device = launchFacts(of: account, on: occasion, after: shown, given: stated)
        let decision = rules.decision(for: question)
        var own: [PolicyReason] = []
        if let record = context.accounts[account], !context.accounts.allowedAccounts.admits(record.account) {
            own.append(
                PolicyReason(
                    rule: .launchAccount, message: Texts.gateAdministratorDoesNotAdmitThisAccount,
                    remedy: Texts.gateSignItOutOrAskAdministrator, verdict: .block))
        }
        if let outdated = context.accounts.outdatedReason(for: account) { own.append(outdated) }
        if context.accounts[account] != nil, context.launchRecord(of: account).mustSignIn == true {
            own.append(
                PolicyReason(
                    rule: .launchCredentials, message: Texts.gateWhatThisAppRemembersWasRemoved,
                    remedy: Texts.denialSignInWithWorkAccount, verdict: .block))
        }
        guard !own.isEmpty else { return decision }
        let gravest = decision.reasons.filter { $0.verdict == .wipe }
        return PolicyDecision(
            reasons: gravest + own + decision.reasons.filter { $0.verdict != .wipe }, trace: decision.trace)
    }

    /// The facts that conditions look at: the app's, and what Cordon knows itself.
    private func launchFacts(
        of account: AccountID, on occasion: LaunchOccasion, after shown: Shown, given stated: StatedFacts
    ) -> DeviceFacts {
        var facts = stated.facts
        // Not with `??`: the compiler (6.3.1, Linux) does not align the vector in its operand.
        if facts.osVersion == nil { facts.osVersion = VersionNumber(context.configuration.device.osVersion) }
        if facts.appVersion == nil { facts.appVersion = VersionNumber(context.configuration.application.version) }
        if facts.sdkVersion == nil { facts.sdkVersion = VersionNumber(context.configuration.application.sdkVersion) }
        if facts.model == nil { facts.model = context.configuration.device.model }
        // The service's word on the account stands where the app has none of its own (SRV-TG-32).
        if facts.accountDisabled == nil { facts.accountDisabled = context.accounts[account]?.isAccountDisabled }
        let now = ClockReading(context.configuration.clock)
        // A person who is using the app is not away from it: what asks for a look after inactivity is not due meanwhile.
        let isInUse = occasion.isDuringUse && gates.isOpen(account)
        let remembered = context.launchRecord(of: account)
        let signedIn = remembered.signedIn.map { isInUse ? .zero : $0.sameRun(until: now) ?? Self.longAgo }
        facts.sinceSignIn = signedIn ?? Self.longAgo
        addPINFacts(of: account, now: now, isInUse: isInUse, to: &facts)
        if shown.contains(.signIn) { facts.sinceSignIn = Self.justNow(facts.sinceSignIn) }
        if shown.contains(.pin) { facts.sincePIN = Self.justNow(facts.sincePIN) }
        if let last = context.accounts.state(of: account)?.lastCheckIn {
            facts.sinceCheckIn = offlineTime(of: account, since: last, remembered, now: now)
        }
        return facts
    }

    /// The time since something was shown; zero where that was a moment ago.
    private static func justNow(_ since: Duration?) -> Duration? {
        since.map { $0 >= .zero && $0 < moment ? .zero : $0 }
    }

    /// A PIN record that cannot be read has no count: the PIN is due, and asking for it closes the gate or has a new one made
    /// after a fresh sign-in. It is not taken for one that is used up, which could mean that the data is removed.
    private func addPINFacts(of account: AccountID, now: ClockReading, isInUse: Bool, to facts: inout DeviceFacts) {
        (facts.failedPINAttempts, facts.pinAge, facts.sincePIN) = (0, .zero, Self.longAgo)
        guard case .value(let record)? = try? pins.contents(of: account), record.verifier != nil else { return }
        facts.failedPINAttempts = Int(record.failed)
        facts.pinAge = age(of: record, at: now)
        guard !pins.hasEnded(record, of: account) else { return }
        let period = access(to: account)?.periodOnlineBeforeAccessCheck ?? .zero
        facts.sincePIN =
            isInUse ? .zero : (record.sinceSeen(underRulesAskingAfter: period, until: now) ?? Self.longAgo)
    }

    /// How old a PIN is. One that was made while the clock was ahead is of unknown age once the clock is right again: who knows it makes another.
    private func age(of record: PINRecord, at now: ClockReading) -> Duration {
        let age = record.made.elapsed(until: now)
        guard age < .zero, context.clock.read().turnedBack == 0 else { return age }
        return age < .seconds(-Int64(Intervals.clockTolerance)) ? Self.longAgo : .zero
    }

    /// After what time without the person the rules ask for the PIN on this device; nil where they ask for none.
    nonisolated(nonsending) func pinPeriod(of account: AccountID) async -> Duration? {
        guard let access = access(to: account), access.pinRequired else { return nil }
        // The app is asked of its device only where that matters: it may just be leaving the front.
        guard access.disableAppPinIfDevicePinIsSet else { return access.periodOnlineBeforeAccessCheck }
        return pinPeriod(of: account, given: await context.statedFacts(for: account))
    }

    private func pinPeriod(of account: AccountID, given stated: StatedFacts) -> Duration? {
        guard let access = access(to: account), access.pinRequired,
            !access.disableAppPinIfDevicePinIsSet || stated.facts.devicePINSet != true
        else { return nil }
        return access.periodOnlineBeforeAccessCheck
    }

    private func access(to account: AccountID) -> AccessRequirements? {
        rules.policy(of: .managed(account))?.policy.access
    }

    /// The time without contact: exact since the check-in was seen in this run of the machine, else by the wall clock, as far
    /// as that can be believed, and as long as the machine has run since at least. Negative where the clock was turned back: then the time
    /// is not known, which the rules deny.
    ///
    /// Where the moment that the launch record remembers is another one than the registration's, the longer time counts. One that has lost it,
    /// such as by being removed, leaves the registration's, which does not say how long the machine had run by then: so the time is not known
    /// after another start of the machine (of the process, where those cannot be told), unless a sign-in has noted it anew before.
    private func offlineTime(
        of account: AccountID, since last: Date, _ remembered: LaunchRecord, now: ClockReading
    ) -> Duration {
        let stored = context.accounts[account]?.contacted
        let mark = remembered.checkedIn ?? stored
        if let mark, abs(Double(mark.wall) / 1000 - last.timeIntervalSince1970) < 2,
            let exact = mark.sameRun(until: now)
        {
            return exact
        }
        let moment = context.clock.read()
        guard moment.turnedBack == 0 else { return .milliseconds(-Int64(min(moment.turnedBack * 1000, 1e15))) }
        guard remembered.checkedIn != nil || stored == nil else { return .milliseconds(-1) }
        let wall = Duration.milliseconds(
            Int64(min(max(moment.now.timeIntervalSince(last) * 1000, -1e15), 1e15)))
        guard wall >= .zero, let mark else { return wall }
        let since = mark.sameRun(until: now) ?? max(mark.elapsed(until: now), mark.atLeast(until: now))
        let ran = remembered.ranAtCheckIn.map(context.clock.runTime().time) ?? .zero
        return max(wall, since, ran)
    }

    /// How long the account may still be without contact; nil when no policy limits it.
    func offlineCountdown(of account: AccountID) -> OfflineCountdown? {
        guard let policy = rules.policy(of: .managed(account))?.policy.launch,
            let last = context.accounts.state(of: account)?.lastCheckIn
        else {
            return nil
        }
        let now = ClockReading(context.configuration.clock)
        return OfflineCountdown(
            account: account,
            offline: offlineTime(of: account, since: last, context.launchRecord(of: account), now: now),
            blockAfter: policy.periodOfflineBeforeAccessCheck, wipeAfter: policy.periodOfflineBeforeWipe)
    }
}

/// The facts that an app stated, by reference: versions are vectors, which want alignment that not every frame gives.
final class StatedFacts: Sendable {
    let facts: DeviceFacts

    init(_ facts: DeviceFacts) { self.facts = facts }
}
