internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

extension AppProtection {
    /// The settings in force: those of the configuration with what was changed since; any thread.
    public nonisolated var settings: ProtectionSettings { settingsInForce.withLock { $0 } }

    /// What the interface could not show of the theme, one message each; empty before it was asked.
    public var refusedTheme: [String] { refusedLook }

    /// Changes settings while the app runs; what is changed survives a relaunch (SDK-AU-06, SDK-ST-36).
    ///
    /// - Returns: One message for every value that could not be taken; the one before stays.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when the change cannot be kept.
    @discardableResult
    public func changeSettings(
        _ change: (inout SettingOverrides) -> Void
    ) throws(ProtectionError) -> [SettingProblem] {
        let before = overrides
        var after = before
        change(&after)
        let (checked, problems) = after.checked(against: before)
        try keep(checked)
        return problems
    }

    /// Those of signing in belong to the account that is gone.
    func forgetSignInOverrides() throws(ProtectionError) {
        var left = overrides
        for (_, path) in SettingOverrides.signIn { left[keyPath: path] = nil }
        try keep(left)
    }

    /// Puts in force what an earlier run of the app changed.
    func loadOverrides() {
        guard let bytes = try? overridesFile.read() else { return }
        guard let stored = try? MessageCoding.decode(SettingOverrides.self, from: bytes) else {
            context.publishSetAside("the settings that were changed at run time cannot be read")
            return
        }
        overrides = stored.checked(against: SettingOverrides()).overrides
        settingsInForce.withLock { [overrides, base = configuration.settings] in $0 = overrides.applied(to: base) }
        publishToLog()
    }

    /// Says once at the start which settings are taken and do nothing here.
    func tellRefusedSettings() {
        for problem in configuration.settings.withoutEffect(in: configuration) {
            configuration.logger.notice("a setting has no effect", metadata: ["setting": "\(problem)"])
            broadcast.post(.settingRefused(reason: "\(problem)"))
        }
    }

    private func keep(_ changed: SettingOverrides) throws(ProtectionError) {
        guard changed != overrides else { return }
        guard let bytes = try? MessageCoding.encode(changed) else {
            throw ProtectionError(.stateUnwritable, "the settings have no JSON form")
        }
        try overridesFile.write(bytes)
        overrides = changed
        settingsInForce.withLock { [base = configuration.settings] in $0 = changed.applied(to: base) }
        publishToLog()
    }

    private var overridesFile: StateFile {
        StateFile(url: configuration.dataDirectory.appending(path: "settings.json"))
    }
}
