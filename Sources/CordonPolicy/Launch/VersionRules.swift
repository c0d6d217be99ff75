internal import CordonBase

/// Versions of library, app and system, in that order (SRV-TG-15, SRV-RS-015).
enum VersionRules {
    static func apply<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        library(facts, policy, to: &findings)
        app(facts, policy, to: &findings)
        system(facts, policy, to: &findings)
    }

    static func library<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        judge(facts.sdkVersion, policy.launch.sdkVersion, .sdk, policy, &findings)
    }

    static func app<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        judge(facts.appVersion, policy.launch.appVersion, .app, policy, &findings)
    }

    static func system<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        judge(facts.osVersion, policy.launch.osVersion, .os, policy, &findings)
    }

    private static func judge<C: FindingCollector>(
        _ version: VersionNumber?, _ limits: borrowing VersionLimits, _ subject: Subject, _ policy: PolicyInForce,
        _ findings: inout C
    ) {
        guard limits.isSet else { return }
        findings.consider(subject.rule, policy)
        guard let version else {
            findings.missing(
                "device.\(subject.rawValue)Version", for: subject.rule, subject.anySetting(of: limits), of: policy)
            return
        }
        if let limit = limits.minimumWipe, version < limit || (subject.wipesAtLimit && version == limit) {
            findings.report(.wipe, subject.rule, subject.minimumWipe, of: policy, subject.tooOld(version, limit))
        }
        if let limit = limits.maximumWipe, version > limit {
            findings.report(.wipe, subject.rule, "maximumWipeOsVersion", of: policy, Subject.tooNew(version, limit))
        }
        if let limit = limits.minimumRequired, version < limit {
            findings.report(.block, subject.rule, subject.minimumRequired, of: policy, subject.tooOld(version, limit))
        }
        if let limit = limits.maximumRequired, version > limit {
            findings.report(
                .block, subject.rule, "maximumRequiredOsVersion", of: policy, Subject.tooNew(version, limit))
        }
        if let limit = limits.minimumWarning, version < limit {
            findings.report(.warn, subject.rule, subject.minimumWarning, of: policy, subject.tooOld(version, limit))
        }
        if let limit = limits.maximumWarning, version > limit {
            findings.report(.warn, subject.rule, "maximumWarningOsVersion", of: policy, Subject.tooNew(version, limit))
        }
    }

    /// Whose version it is.
    private enum Subject: String {
        case sdk, app, os

        var rule: Rule {
            switch self {
            case .sdk: .launchSDKVersion
            case .app: .launchAppVersion
            case .os: .launchOSVersion
            }
        }

        /// Whether the version of the limit itself is wiped: the library's page says "less than" (decision 0035).
        var wipesAtLimit: Bool { self != .sdk }

        var minimumWipe: StaticString {
            switch self {
            case .sdk: "minimumWipeSdkVersion"
            case .app: "minimumWipeAppVersion"
            case .os: "minimumWipeOsVersion"
            }
        }

        var minimumRequired: StaticString {
            switch self {
            case .sdk: "minimumRequiredSdkVersion"
            case .app: "minimumRequiredAppVersion"
            case .os: "minimumRequiredOsVersion"
            }
        }

        var minimumWarning: StaticString {
            switch self {
            case .sdk: "minimumWarningSdkVersion"
            case .app: "minimumWarningAppVersion"
            case .os: "minimumWarningOsVersion"
            }
        }

        /// The gravest threshold that is set, for a reason that names one.
        func anySetting(of limits: borrowing VersionLimits) -> StaticString {
            if limits.minimumWipe != nil { return minimumWipe }
            if limits.maximumWipe != nil { return "maximumWipeOsVersion" }
            if limits.minimumRequired != nil { return minimumRequired }
            if limits.maximumRequired != nil { return "maximumRequiredOsVersion" }
            return limits.minimumWarning != nil ? minimumWarning : "maximumWarningOsVersion"
        }

        func tooOld(_ version: VersionNumber, _ limit: VersionNumber) -> Wording {
            let (version, limit) = ("\(version)", "\(limit)")
            return switch self {
            case .sdk:
                Wording(Texts.denialProtectionLibraryIsTooOld(limit: limit, version: version), Texts.denialUpdateApp)
            case .app: Wording(Texts.denialAppIsTooOld(limit: limit, version: version), Texts.denialUpdateApp)
            case .os:
                Wording(Texts.denialOperatingSystemIsTooOld(limit: limit, version: version), Texts.denialUpdateDevice)
            }
        }

        /// Of the operating system, which alone has a highest version.
        static func tooNew(_ version: VersionNumber, _ limit: VersionNumber) -> Wording {
            Wording(
                Texts.denialOperatingSystemIsTooNew(limit: "\(limit)", version: "\(version)"),
                Texts.denialAskAdministrator)
        }
    }
}

extension VersionLimits {
    /// Whether any threshold is set.
    var isSet: Bool {
        minimumWarning != nil || minimumRequired != nil || minimumWipe != nil || maximumWarning != nil
            || maximumRequired != nil || maximumWipe != nil
    }
}
