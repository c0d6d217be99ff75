internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

/// The settings in force: those of the configuration, with the changes made at run time.
///
/// Use it as ``AppProtection/settings``.
public actor RuntimeSettings: AccountFollower {
    private let context: ProtectionContext
    private let screens: InterfaceScreens
    private var overrides = SettingOverrides()

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(_ context: ProtectionContext, screens: InterfaceScreens) {
        self.context = context
        self.screens = screens
    }

    /// The settings in force; any thread.
    public nonisolated var current: ProtectionSettings { context.settings }

    /// What the interface cannot show of the theme, one message each; empty until it was asked. Any thread.
    public nonisolated var refusedTheme: [String] { screens.refusedTheme }

    /// Changes settings while the app runs; the changes survive a relaunch (SDK-AU-06, SDK-ST-36). Changes by another process of the app
    /// stay.
    ///
    /// Cordon remembers the last 32 places to sign in at; it forgets older ones together with the sessions there.
    ///
    /// - Returns: One message for every value that it refused; the old value stays.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when the change cannot be kept.
    @discardableResult
    public func change(
        _ change: (inout SettingOverrides) -> Void
    ) throws(ProtectionError) -> [SettingProblem] {
        var problems: [SettingProblem] = []
        try keep { before in
            var after = before
            change(&after)
            let checked: SettingOverrides
            (checked, problems) = after.checked(against: before)
            return checked.remembering(before)
        }
        return problems
    }

    /// The providers to try for a token without asking the person, in order: the one set at run time, those that the token
    /// cache knows for the account, and the one of the settings (SDK-AU-07). A caller that asks the person takes the first.
    public func authorities(cached: [String] = []) -> [String] {
        var known: Set<String> = []
        let fixed = context.configuration.settings.authority
        return ([overrides.authority].compactMap(\.self) + cached + [fixed].compactMap(\.self)).filter {
            known.insert($0).inserted
        }
    }

    /// Puts in force what an earlier run of the app changed, and says which settings are wrong, and which are taken and do nothing here.
    func load() {
        loadOverrides()
        let settings = context.configuration.settings
        for problem in settings.mistakes + settings.withoutEffect(in: context.configuration) {
            context.configuration.logger.warning(
                "a setting is wrong or has no effect", metadata: ["setting": "\(problem)"])
            context.events.post(.settingRefused(reason: "\(problem)"))
        }
    }

    private func loadOverrides() {
        let found = try? stored.look()
        do {
            // Plain settings of a version before are taken over once; where there are none, later ones are none of this device's.
            if found?.isFormer == true {
                try changing { () throws(ProtectionError) in try stored.takeOver { own, _ in own } }
            }
            if case .absent? = found?.contents, found?.isCounted == false {
                try changing { () throws(ProtectionError) in try stored.noteAbsence() }
            }
        } catch {
            context.configuration.logger.error(
                "the settings that were changed at run time could not be sealed",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
        switch found?.contents {
        case .absent?: return publishToLog()
        case .value(let own)?: overrides = Self.checked(own)
        case .newer?, .doubtful?, nil:
            context.publishSetAside(
                "the settings that were changed at run time cannot be read, or are not the last ones")
            // Sessions at the places that this device has known are still to be ended. Telemetry may have been switched off.
            let known = found?.isFormer == true ? nil : found?.value
            overrides = SettingOverrides().remembering(known.map(Self.checked) ?? SettingOverrides())
            overrides.telemetryDisabled = true
        }
        apply()
    }

    private static func checked(_ stored: SettingOverrides) -> SettingOverrides {
        stored.checked(against: SettingOverrides()).overrides
    }

    /// Changes what is stored, after whatever another process of the app wrote, and takes it over.
    private func keep(_ edit: (SettingOverrides) -> SettingOverrides) throws(ProtectionError) {
        var after = overrides
        try changing { () throws(ProtectionError) in
            let found = try stored.look()
            if case .newer = found.contents {
                throw ProtectionError(
                    .stateUnwritable, "the settings were written by a newer version of the app",
                    hint: "Update the app again.")
            }
            let before = Self.known(by: found) ?? overrides
            after = edit(before)
            if after != before { try stored.write(after, over: found) }
        }
        takeOver(after)
    }

    /// Takes up what another process of the app has changed. What is in doubt changes nothing of what is known.
    func takeUpStored() async {
        if let now = (try? stored.look()).flatMap(Self.known) { takeOver(now) }
    }

    private func takeOver(_ now: SettingOverrides) {
        guard now != overrides else { return }
        overrides = now
        apply()
    }

    /// What was written last; nil where there is nothing of this device's, or it is in doubt.
    private static func known(by found: SealedState<SettingOverrides>.Found) -> SettingOverrides? {
        guard case .value(let own) = found.contents, !found.isFormer else { return nil }
        return checked(own)
    }

    /// Runs a change while no other process of the app changes what is stored.
    private func changing(_ body: () throws(ProtectionError) -> Void) throws(ProtectionError) {
        try StateLock.exclusively(context.stateFolder.lock, body)
    }

    private func apply() {
        let own = context.configuration.settings
        let settings = overrides.applied(to: own)
        context.settingsInForce.withLock { $0 = settings }
        context.telemetry.followSwitches()
        let former = (overrides.formerSignIns ?? []).map { $0.applied(to: own) }
        context.configuration.sessions.follow([settings] + former + [own])
        publishToLog()
    }

    private var stored: SealedState<SettingOverrides> {
        let file = StateFile(url: context.configuration.dataDirectory.appending(path: "settings.json"))
        return SealedState(file: file, purpose: "settings", seal: context.seal, former: .unsealed)
    }

    // MARK: What other parts say of an account

    func rulesChanged(of account: AccountID, from before: AccountState?, to now: AccountState) { publishToLog() }

    /// A wipe ends the sessions everywhere where another process may have signed people in.
    func accountLeft(_ account: AccountID, from before: AccountState?) async { await takeUpStored() }

    /// Those of signing in belong to the account that is gone. Where it signed in is forgotten, unless an account's session is still kept,
    /// or may be.
    func sessionEnded(of account: AccountID) async throws(ProtectionError) {
        guard !(try context.accounts.load().records.contains { $0.account.id != account }) else { return }
        await takeUpStored()
        guard overrides.namesSignIn else { return }
        let known = overrides
        let configuration = context.configuration
        let kept = await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) {
            [sessions = configuration.sessions] in try? await sessions.keptAccounts()
        }
        // Where it is not said, somebody may be.
        let isAnyoneLeft = (kept ?? nil)?.contains { $0 != account } ?? true
        try keep { before in
            var left = before.withoutSignIn.remembering(before)
            // Where people signed in meanwhile was not asked.
            if !isAnyoneLeft, before == known { left.formerSignIns = nil }
            return left
        }
    }

    /// Those of signing in belong to the account that has left; its session may stay.
    func endEnrollment(of account: AccountID) throws(ProtectionError) {
        if context.accounts.records.isEmpty { try keep { $0.withoutSignIn.remembering($0) } }
    }

    /// Tells the log how much to write, and which values of the app configurations to leave out (SDK-ST-33, SDK-ST-35).
    private func publishToLog() {
        guard let log = context.configuration.logFile else { return }
        let settings = context.settings
        log.follow(settings)
        // The log leaves out the values from the device's management for every account.
        let configurations =
            context.accounts.rules.accounts.values.map(\.delivery.configuration)
            + [context.configuration.givenConfiguration]
        var values: Set<String> = []
        for key in settings.scrubbedKeys {
            for value in configurations.flatMap({ $0.values(for: key) }) { values.formUnion(Self.texts(in: value)) }
        }
        log.scrub(values)
    }

    /// Every text that a value may appear as; truth values and short numbers would blacken every line.
    private static func texts(in value: JSONValue) -> Set<String> {
        switch value {
        case .string(let text): text.isEmpty ? [] : [text]
        case .integer, .number: value.integer.map { $0.magnitude < 1000 ? [] : [String($0)] } ?? []
        case .array(let values): values.reduce(into: []) { $0.formUnion(texts(in: $1)) }
        case .object(let members): members.values.reduce(into: []) { $0.formUnion(texts(in: $1)) }
        default: []
        }
    }
}
