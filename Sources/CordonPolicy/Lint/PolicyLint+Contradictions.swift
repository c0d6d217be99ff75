extension PolicyLint {
    /// Settings that cancel or miss one another.
    static func contradictory(_ policy: AppProtectionPolicy) -> [LintFinding] {
        transfer(policy) + links(policy) + access(policy) + launch(policy) + actions(policy) + versions(policy)
            + exemptions(policy) + idle(policy) + misspelt(policy)
    }

    /// Actions that their condition does not take, with what is done in their place.
    private static func actions(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let launch = policy.launch
        let asked: [(setting: String, action: RemediationAction?, taken: ConditionActions)] = [
            ("appActionIfMaximumPinRetriesExceeded", policy.access.actionIfMaximumPinRetriesExceeded, .blockOrWipe),
            ("appActionIfDeviceComplianceRequired", launch.actionIfNotCompliant, .blockOrWipe),
            ("mobileThreatDefenseRemediationAction", launch.actionIfThreatened, .blockOrWipe),
            ("appActionIfUnableToAuthenticateUser", launch.actionIfAccountDisabled, .blockOrWipe),
            ("appActionIfIosDeviceModelNotAllowed", launch.actionIfModelNotAllowed, .blockOrWipe),
            ("appActionIfAccountIsClockedOut", launch.actionIfClockedOut, .blockOrWarn),
        ]
        return asked.compactMap { setting, action, taken in
            action.flatMap(taken.objection).map {
                LintFinding(.warning, "action-not-taken", setting, $0, fix: .string(RemediationAction.block.rawValue))
            }
        }
    }

    private static func transfer(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let rules = policy.transfer
        var findings: [LintFinding] = []
        func warn(_ setting: String, _ message: String) {
            findings.append(LintFinding(.warning, "contradiction", setting, message))
        }
        if rules.saveAsBlocked && rules.outbound == .allApps {
            warn("saveAsBlocked", "has no effect while data may go to every app")
        }
        if !rules.storageLocations.isEmpty && !rules.saveAsBlocked && rules.outbound != .none {
            warn("allowedDataStorageLocations", "excepts places from a block that is not set")
        }
        if !rules.storageLocations.isEmpty && rules.outbound == .none {
            warn("allowedDataStorageLocations", "has no effect while data may go to no app")
        }
        if rules.ingestionBlocked && rules.inbound == .allApps {
            warn("blockDataIngestionIntoOrganizationDocuments", "has no effect while data may come from every app")
        }
        // The list that a policy begins with, and all sources, stand in most exports and say nothing.
        if !rules.ingestionLocations.isSuperset(of: DataTransferRules().ingestionLocations)
            && !rules.ingestionLocations.isEmpty && !(rules.ingestionBlocked && rules.inbound == .managedApps)
        {
            warn("allowedDataIngestionLocations", "excepts sources from a block that is not in force")
        }
        if rules.clipboardExceptionLength > 1000 && rules.clipboard != .allApps {
            warn("allowedOutboundClipboardSharingExceptionLength", "lets whole pages of text into any app")
        }
        if rules.clipboard == .allApps && rules.outbound != .allApps {
            warn(
                "allowedOutboundClipboardSharingLevel",
                "text can be copied into any app although data may not be sent there")
        }
        if rules.clipboardExceptionLength > 0 && rules.clipboard == .allApps {
            warn("allowedOutboundClipboardSharingExceptionLength", "has no effect while the clipboard is open")
        }
        if rules.openInFiltered && (rules.outbound != .managedApps || rules.openInProtectionDisabled) {
            warn("filterOpenInToOnlyManagedApps", "needs outbound managedApps and protected open-in data")
        }
        if rules.openInProtectionDisabled && rules.outbound != .managedApps {
            warn("disableProtectionOfManagedOutboundOpenInData", "has effect with outbound managedApps only")
        }
        if rules.unknownInboundProtected && rules.inbound != .allApps {
            warn("protectInboundDataFromUnknownSources", "has effect with inbound allApps only")
        }
        return findings
    }

    private static func links(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let rules = policy.transfer
        var findings: [LintFinding] = []
        if (rules.managedBrowser != .notConfigured || rules.customBrowserScheme != nil) && !rules.managedBrowserRequired
        {
            findings.append(
                LintFinding(
                    .warning, "contradiction", "managedBrowserToOpenLinksRequired",
                    "a browser is named but not required"))
        }
        if rules.managedBrowserRequired && rules.managedBrowser != .notConfigured && rules.customBrowserScheme != nil {
            findings.append(
                LintFinding(
                    .warning, "contradiction", "customBrowserProtocol",
                    "has no effect, as managedBrowser names another browser"))
        }
        if rules.managedBrowserRequired && rules.managedBrowser == .notConfigured && rules.customBrowserScheme == nil {
            findings.append(
                LintFinding(
                    .note, "incomplete", "managedBrowser",
                    "no browser is named, so links open only where the app configuration names one"))
        }
        for (setting, isNamed, isUsed) in [
            ("customDialerAppProtocol", rules.customDialerScheme != nil, rules.dialer == .customApp),
            ("messagingRedirectAppUrlScheme", rules.messagingScheme != nil, rules.messaging == .specificApps),
        ] where isNamed && !isUsed {
            findings.append(
                LintFinding(.warning, "contradiction", setting, "names an app to which nothing is sent", fix: .null))
        }
        if rules.dialer == .customApp && rules.customDialerScheme == nil {
            findings.append(
                LintFinding(
                    .warning, "incomplete", "customDialerAppProtocol",
                    "the one dialer is not named, so no number can be dialled"))
        }
        if rules.messaging == .specificApps && rules.messagingScheme == nil {
            findings.append(
                LintFinding(
                    .warning, "incomplete", "messagingRedirectAppUrlScheme",
                    "the one messaging app is not named, so no message can be sent"))
        }
        return findings
    }

    private static func access(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let access = policy.access
        var findings: [LintFinding] = []
        if !access.pinRequired && (access.simplePinBlocked || access.periodBeforePinReset > .zero) {
            findings.append(
                LintFinding(.warning, "contradiction", "pinRequired", "a PIN is described but not required"))
        }
        if access.minimumPinLength < 4 && access.pinRequired {
            findings.append(
                LintFinding(.warning, "too-weak", "minimumPinLength", "fewer than four characters are guessed at once"))
        }
        if access.maximumPinRetries > 100 && access.pinRequired {
            findings.append(
                LintFinding(.warning, "too-weak", "maximumPinRetries", "lets a PIN be guessed"))
        }
        if access.periodOnlineBeforeAccessCheck == .zero
            && (access.pinRequired || access.organizationalCredentialsRequired)
        {
            findings.append(
                LintFinding(
                    .warning, "too-short", "periodOnlineBeforeAccessCheck",
                    "zero asks again each time that the app is opened"))
        }
        let biometric = access.pinRequiredInsteadOfBiometricTimeout
        if biometric > .zero && biometric < access.periodOnlineBeforeAccessCheck {
            findings.append(
                LintFinding(
                    .warning, "contradiction", "pinRequiredInsteadOfBiometricTimeout",
                    "is shorter than periodOnlineBeforeAccessCheck, so biometry never replaces the PIN"))
        }
        return findings
    }

    private static func launch(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let launch = policy.launch
        var findings: [LintFinding] = []
        if launch.periodOfflineBeforeWipe == .zero {
            findings.append(
                LintFinding(
                    .note, "never", "periodOfflineBeforeWipeIsEnforced",
                    "zero means that nothing is wiped for being offline"))
        } else if launch.periodOfflineBeforeWipe < launch.periodOfflineBeforeAccessCheck {
            findings.append(
                LintFinding(
                    .warning, "contradiction", "periodOfflineBeforeWipeIsEnforced",
                    "data is wiped before access is blocked"))
        }
        if launch.periodOfflineBeforeAccessCheck < .seconds(30 * 60) {
            findings.append(
                LintFinding(
                    .warning, "too-short", "periodOfflineBeforeAccessCheck",
                    "less than 30 minutes blocks people on an ordinary train ride"))
        }
        if launch.offClockGracePeriod != nil && launch.actionIfClockedOut == nil {
            findings.append(
                LintFinding(
                    .warning, "contradiction", "gracePeriodToBlockAppsDuringOffClockHours",
                    "has no effect without appActionIfAccountIsClockedOut"))
        }
        return findings
    }

    private static func versions(_ policy: AppProtectionPolicy) -> [LintFinding] {
        let launch = policy.launch
        var findings: [LintFinding] = []
        for (name, limits) in [("Os", launch.osVersion), ("App", launch.appVersion), ("Sdk", launch.sdkVersion)] {
            if let wipe = limits.minimumWipe, let block = limits.minimumRequired, wipe >= block {
                findings.append(
                    LintFinding(
                        .warning, "contradiction", "minimumRequired\(name)Version",
                        "is never reached: wiping comes first"))
            }
            if let block = limits.minimumRequired, let warn = limits.minimumWarning, block >= warn {
                findings.append(
                    LintFinding(
                        .warning, "contradiction", "minimumWarning\(name)Version",
                        "is never reached: blocking comes first"))
            }
            if let wipe = limits.maximumWipe, let block = limits.maximumRequired, wipe <= block {
                findings.append(
                    LintFinding(
                        .warning, "contradiction", "maximumRequired\(name)Version",
                        "is never reached: wiping comes first"))
            }
            if let block = limits.maximumRequired, let warn = limits.maximumWarning, block <= warn {
                findings.append(
                    LintFinding(
                        .warning, "contradiction", "maximumWarning\(name)Version",
                        "is never reached: blocking comes first"))
            }
            if let least = limits.minimumRequired, let most = limits.maximumRequired, least > most {
                findings.append(
                    LintFinding(
                        .error, "contradiction", "minimumRequired\(name)Version",
                        "no version lies between minimum and maximum"))
            }
        }
        return findings
    }
}
