/// Account, device integrity, threat level and model.
enum DeviceRules {
    /// SRV-RS-068.
    static func account<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard let action = policy.launch.actionIfAccountDisabled else { return }
        findings.consider(.launchAccount, policy)
        guard let disabled = facts.accountDisabled else {
            unknown(
                "device.accountDisabled", action, .launchAccount, "appActionIfUnableToAuthenticateUser", policy,
                &findings)
            return
        }
        guard disabled else { return }
        findings.report(
            LaunchRules.verdict(of: action), .launchAccount, "appActionIfUnableToAuthenticateUser", of: policy,
            Wording("The work account is disabled.", LaunchRules.remedy(action, "ask the administrator.")))
    }

    /// SRV-RS-029, SRV-RS-030.
    static func rooted<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard policy.launch.deviceComplianceRequired else { return }
        findings.consider(.launchRooted, policy)
        let action = policy.launch.actionIfNotCompliant
        guard let rooted = facts.rooted else {
            unknown("device.rooted", action, .launchRooted, "deviceComplianceRequired", policy, &findings)
            return
        }
        guard rooted else { return }
        findings.report(
            LaunchRules.verdict(of: action), .launchRooted, "appActionIfDeviceComplianceRequired", of: policy,
            Wording("The device is rooted or jailbroken.", LaunchRules.remedy(action, "restore the device's system.")))
    }

    /// SRV-RS-065, SRV-RS-066: no word from the threat defence is a violation, but nothing is destroyed for it.
    static func threat<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        let maximum = policy.launch.maximumThreatLevel
        guard maximum != .notConfigured else { return }
        findings.consider(.launchThreat, policy)
        let action = policy.launch.actionIfThreatened
        guard let level = facts.threatLevel, level != .notConfigured else {
            unknown("device.threatLevel", action, .launchThreat, "maximumAllowedDeviceThreatLevel", policy, &findings)
            return
        }
        guard level.rank > maximum.rank else { return }
        findings.report(
            LaunchRules.verdict(of: action), .launchThreat, "maximumAllowedDeviceThreatLevel", of: policy,
            Wording(
                "The device's threat level is \(level.rawValue); at most \(maximum.rawValue) is accepted.",
                LaunchRules.remedy(action, "remove the threats that the threat defence lists.")))
    }

    /// SRV-RS-085, SRV-RS-086.
    static func model<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard let models = policy.launch.allowedModels else { return }
        findings.consider(.launchModel, policy)
        let action = policy.launch.actionIfModelNotAllowed
        guard let model = facts.model, !model.isEmpty else {
            unknown("device.model", action, .launchModel, "allowedIosDeviceModels", policy, &findings)
            return
        }
        guard !models.contains(model.lowercased()) else { return }
        findings.report(
            LaunchRules.verdict(of: action), .launchModel, "allowedIosDeviceModels", of: policy,
            Wording("This device model is not accepted.", LaunchRules.remedy(action, "use a listed device.")))
    }

    /// A fact that is not known: denied, unless the action asks only for checks that can be made.
    private static func unknown<C: FindingCollector>(
        _ field: @autoclosure () -> String, _ action: RemediationAction, _ rule: Rule, _ setting: StaticString,
        _ policy: PolicyInForce, _ findings: inout C
    ) {
        if action != .blockWhenSettingIsSupported { findings.missing(field(), for: rule, setting, of: policy) }
    }
}
