internal import CordonBase

/// Account, device integrity, threat level, model and passcode.
enum DeviceRules {
    /// SRV-RS-068.
    static func account<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard let asked = policy.launch.actionIfAccountDisabled else { return }
        findings.consider(.launchAccount, policy)
        let consequence = Consequence(asked, of: .blockOrWipe)
        guard let disabled = facts.accountDisabled else {
            unknown(
                "device.accountDisabled", consequence, .launchAccount, "appActionIfUnableToAuthenticateUser", policy,
                &findings)
            return
        }
        guard disabled else { return }
        findings.report(
            consequence.verdict, .launchAccount, "appActionIfUnableToAuthenticateUser", of: policy,
            consequence.wording(Texts.denialWorkAccountIsDisabled, Texts.denialAskAdministrator))
    }

    /// SRV-RS-029, SRV-RS-030.
    static func rooted<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard policy.launch.deviceComplianceRequired else { return }
        findings.consider(.launchRooted, policy)
        let consequence = Consequence(policy.launch.actionIfNotCompliant, of: .blockOrWipe)
        guard let rooted = facts.rooted else {
            unknown("device.rooted", consequence, .launchRooted, "deviceComplianceRequired", policy, &findings)
            return
        }
        guard rooted else { return }
        findings.report(
            consequence.verdict, .launchRooted, "appActionIfDeviceComplianceRequired", of: policy,
            consequence.wording(Texts.denialDeviceIsRootedOrJailbroken, Texts.denialRestoreDeviceSystem))
    }

    /// SRV-RS-065, SRV-RS-066: no word from the threat defence is a violation, but nothing is destroyed for it.
    static func threat<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        let maximum = policy.launch.maximumThreatLevel
        guard maximum != .notConfigured else { return }
        findings.consider(.launchThreat, policy)
        let consequence = Consequence(policy.launch.actionIfThreatened, of: .blockOrWipe)
        guard let level = facts.threatLevel, level != .notConfigured else {
            unknown(
                "device.threatLevel", consequence, .launchThreat, "maximumAllowedDeviceThreatLevel", policy, &findings)
            return
        }
        guard level.rank > maximum.rank else { return }
        findings.report(
            consequence.verdict, .launchThreat, "maximumAllowedDeviceThreatLevel", of: policy,
            consequence.wording(
                Texts.denialDeviceThreatLevelIsAtMost(level: level.rawValue, maximum: maximum.rawValue),
                Texts.denialRemoveThreatsThatThreatDefenceLists))
    }

    /// SRV-RS-085, SRV-RS-086.
    static func model<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard let models = policy.launch.allowedModels else { return }
        findings.consider(.launchModel, policy)
        let consequence = Consequence(policy.launch.actionIfModelNotAllowed, of: .blockOrWipe)
        guard let model = facts.model, !model.isEmpty else {
            unknown("device.model", consequence, .launchModel, "allowedIosDeviceModels", policy, &findings)
            return
        }
        guard !models.contains(model.lowercased()) else { return }
        findings.report(
            consequence.verdict, .launchModel, "allowedIosDeviceModels", of: policy,
            consequence.wording(Texts.denialThisDeviceModelIsNotAccepted, Texts.denialUseListedDevice))
    }

    /// SRV-RS-075: files that the system is to close while the device is locked are open on a device without a passcode.
    static func passcode<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard policy.storage.encryptionRequired else { return }
        findings.consider(.launchPasscode, policy)
        guard let isSet = facts.devicePINSet else {
            findings.missing("device.devicePINSet", for: .launchPasscode, "appDataEncryptionType", of: policy)
            return
        }
        guard !isSet else { return }
        findings.report(
            .block, .launchPasscode, "appDataEncryptionType", of: policy,
            Wording(
                Texts.denialDeviceHasNoPasscodeSoOrganisation,
                Texts.denialSetPasscodeInDeviceSettings))
    }

    /// A fact that is not known: denied, unless the action asks only for checks that can be made.
    private static func unknown<C: FindingCollector>(
        _ field: @autoclosure () -> String, _ consequence: Consequence, _ rule: Rule, _ setting: StaticString,
        _ policy: PolicyInForce, _ findings: inout C
    ) {
        if consequence.action != .blockWhenSettingIsSupported {
            findings.missing(field(), for: rule, setting, of: policy)
        }
    }
}
