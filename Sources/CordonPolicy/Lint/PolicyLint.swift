/// Checks a policy for what cannot be meant: unknown or contradictory settings, settings weaker than a
/// baseline, and what cannot be enforced here.
public enum PolicyLint {
    /// Every finding, errors first, then by setting.
    public static func findings(
        in policy: AppProtectionPolicy, weakerThan baseline: AppProtectionPolicy? = nil
    ) -> [LintFinding] {
        var findings = unknown(policy) + contradictory(policy) + unenforceable(policy) + aimless(policy)
        if let baseline { findings += weaker(policy, baseline) }
        let rank: [LintFinding.Severity: Int] = [.error: 0, .warning: 1, .note: 2]
        return findings.sorted {
            (rank[$0.severity] ?? 0, $0.setting, $0.code) < (rank[$1.severity] ?? 0, $1.setting, $1.code)
        }
    }

    private static func unknown(_ policy: AppProtectionPolicy) -> [LintFinding] {
        policy.unknownCritical.map {
            LintFinding(.error, "unknown-critical", $0, "marked critical and not known here: everything is denied")
        }
            + policy.notUnderstood.map { LintFinding(.warning, "unknown-value", $0, unknownValue(of: $0, in: policy)) }
            + policy.unreadMembers.keys.filter { !policy.unknownCritical.contains($0) }.map {
                let meant = AppProtectionPolicy.memberMeant(by: $0).map { "; did you mean \($0)?" } ?? ""
                return LintFinding(.warning, "unknown-property", $0, "not known here: kept, but without effect" + meant)
            }
    }

    private static func unknownValue(of name: String, in policy: AppProtectionPolicy) -> String {
        guard let setting = Setting.named(name), let value = policy.unknownValues[name] else {
            return "a value is not known here and counts as one that denies"
        }
        let texts = value.array?.compactMap(\.string) ?? [value.string ?? ""]
        let meant = texts.lazy.compactMap { MemberSpelling.meant(by: $0, among: setting.names) }.first
        return "\(value.text()) is not known here and counts as \(setting.write(policy).text())"
            + (meant.map { "; did you mean \($0)?" } ?? "")
    }

    /// A policy that says which apps it is about, and names none (SRV-OP-099). A default protection without a list is about
    /// every app.
    private static func aimless(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let type = policy.otherProperty("@odata.type")?.string ?? ""
        let group = policy.otherProperty("appGroupType")?.string?.lowercased() ?? "selectedpublicapps"
        guard policy.otherProperty("apps")?.array?.isEmpty == true, group == "selectedpublicapps",
            !type.hasSuffix("defaultManagedAppProtection")
        else { return [] }
        return [LintFinding(.warning, "no-apps", "apps", "targets no app, so no person gets it")]
    }

    private static func weaker(_ policy: AppProtectionPolicy, _ baseline: AppProtectionPolicy) -> [LintFinding] {
        // What makes no difference to the baseline, such as exceptions from a block that it does not set, is not undercut
        // (SRV-TG-14).
        let weaker = Setting.all.filter { $0.counts(in: baseline) && !$0.isAtLeastAsStrict(policy, as: baseline) }
        return weaker.map { setting in
            LintFinding(
                .warning, "weaker-than-baseline", setting.name,
                "\(setting.write(policy).text()) is weaker than \(setting.write(baseline).text()) of \(baseline.displayName)"
            )
        }
    }

    private static func unenforceable(_ policy: AppProtectionPolicy) -> [LintFinding] {
        var findings: [LintFinding] = []
        let type = policy.otherProperty("@odata.type")?.string ?? ""
        if type.hasSuffix("androidManagedAppProtection") {
            findings.append(
                LintFinding(
                    .error, "not-enforceable", "@odata.type", "a policy for Android is stored but never evaluated here")
            )
        }
        for name in AppProtectionPolicy.androidMembers.sorted() where !type.hasSuffix("androidManagedAppProtection") {
            guard let value = policy.otherProperty(name), value != .null, value != .bool(false), value != .array([])
            else { continue }
            findings.append(
                LintFinding(.note, "not-enforceable", name, "concerns Android alone: kept, never evaluated"))
        }
        if policy.transfer.contentEvaluation == .required {
            findings.append(
                LintFinding(
                    .note, "needs-evaluator", "purviewContentEvaluationRequired",
                    "apps without an evaluator cannot share anything"))
        }
        if policy.launch.maximumThreatLevel != .notConfigured {
            findings.append(
                LintFinding(
                    .note, "needs-connector", "maximumAllowedDeviceThreatLevel",
                    "devices without a threat-defence connector are blocked"))
        }
        return findings
    }
}
