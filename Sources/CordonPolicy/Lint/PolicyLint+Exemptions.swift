extension PolicyLint {
    /// Exemptions that another setting defeats, that exempt everything, or that contradict one another.
    static func exemptions(_ policy: AppProtectionPolicy) -> [LintFinding] {
        schemes(policy.transfer) + links(policy.transfer)
    }

    private static func schemes(_ rules: DataTransferRules) -> [LintFinding] {
        let name = "exemptedAppProtocols"
        if rules.outbound == .none, rules.exemptSchemes != DataTransferRules.defaultExemptSchemes,
            !rules.exemptSchemes.isEmpty
        {
            return [
                LintFinding(.warning, "defeated-exemption", name, "has no effect while data may go to no app")
            ]
        }
        guard rules.outbound == .managedApps else { return [] }
        let defeating: [(schemes: [String], isDefeated: Bool, by: String)] = [
            (["sms"], rules.messaging != .anyApp, "protectedMessagingRedirectAppType"),
            (["tel", "telprompt"], rules.dialer != .allApps, "dialerRestrictionLevel"),
            (["http", "https"], rules.managedBrowserRequired, "managedBrowserToOpenLinksRequired"),
        ]
        return defeating.filter(\.isDefeated).flatMap { entry in
            entry.schemes.filter { rules.exemptSchemes.contains($0) }.map {
                LintFinding(
                    .warning, "defeated-exemption", name, "\($0) is exempted, and \(entry.by) decides all the same")
            }
        }
    }

    private static func links(_ rules: DataTransferRules) -> [LintFinding] {
        var findings: [LintFinding] = []
        for (name, links) in [
            ("exemptedUniversalLinks", rules.exemptUniversalLinks),
            ("managedUniversalLinks", rules.managedUniversalLinks),
        ] {
            for link in links.sorted() where matchesEverything(link) {
                findings.append(LintFinding(.warning, "matches-everything", name, "\(link) stands for every link"))
            }
        }
        for link in rules.exemptUniversalLinks.intersection(rules.managedUniversalLinks).sorted() {
            findings.append(
                LintFinding(
                    .warning, "in-both-lists", "managedUniversalLinks",
                    "\(link) is exempted too, so it may open any app"))
        }
        return findings
    }

    /// Whether an entry takes a link of its scheme to a place that no list can mean.
    private static func matchesEverything(_ link: String) -> Bool {
        let letter = UnlistedText.letter(notIn: [link])
        let scheme = link.hasPrefix("http://") ? "http" : "https"
        guard let any = Link("\(scheme)://\(letter).\(letter)/\(letter)") else { return false }
        return LinkPatterns([link]).contains(any)
    }

    /// What is said of a switch that is off: it has no effect, and where it is a wipe it misleads.
    static func idle(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let launch = policy.launch
        let wipes: [(setting: String, isWipe: Bool, trigger: String)] = [
            (
                "appActionIfMaximumPinRetriesExceeded", policy.access.actionIfMaximumPinRetriesExceeded == .wipe,
                "pinRequired"
            ),
            ("appActionIfDeviceComplianceRequired", launch.actionIfNotCompliant == .wipe, "deviceComplianceRequired"),
            (
                "mobileThreatDefenseRemediationAction", launch.actionIfThreatened == .wipe,
                "maximumAllowedDeviceThreatLevel"
            ),
            ("appActionIfIosDeviceModelNotAllowed", launch.actionIfModelNotAllowed == .wipe, "allowedIosDeviceModels"),
        ]
        var findings = wipes.filter(\.isWipe).compactMap { entry -> LintFinding? in
            guard let setting = Setting.named(entry.setting), !setting.counts(in: policy) else { return nil }
            return LintFinding(
                .warning, "wipe-without-trigger", entry.setting, "nothing is ever wiped: \(entry.trigger) is not set",
                fix: setting.write(AppProtectionPolicy()))
        }
        if launch.threatPartnerPriority != nil && launch.maximumThreatLevel == .notConfigured {
            findings.append(
                LintFinding(
                    .warning, "priority-without-level", "mobileThreatDefensePartnerPriority",
                    "has no effect without maximumAllowedDeviceThreatLevel", fix: .null))
        }
        if policy.transfer.screenCapture == .notBlocked && policy.transfer.outbound != .allApps {
            findings.append(
                LintFinding(
                    .note, "capture-allowed", "screenCaptureConfigurationState",
                    "people may capture the screen, and a picture of it can be sent to any app"))
        }
        return findings
    }

    /// The same policy with every fix that ``findings(in:weakerThan:)`` offers; its answers are the same.
    public static func fixed(_ policy: AppProtectionPolicy) -> AppProtectionPolicy {
        guard case .object(var members) = policy.graphJSON else { return policy }
        for finding in findings(in: policy) {
            if let fix = finding.fix { members[finding.setting] = fix }
        }
        return (try? AppProtectionPolicy(graphJSON: .object(members))) ?? policy
    }
}
