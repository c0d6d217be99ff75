internal import CordonBase

/// Printing, notifications, screen capture, backup and encryption.
enum OutputRules {
    static func apply<C: FindingCollector>(_ action: Action, _ policy: PolicyInForce, to findings: inout C) {
        switch action {
        case .print: print(policy, to: &findings)
        case .notify: notify(policy, to: &findings)
        case .captureScreen: captureScreen(policy, to: &findings)
        case .backUp: backUp(policy, to: &findings)
        default: encrypt(policy, to: &findings)
        }
    }

    /// SDK-PR-01, SRV-RS-038.
    private static func print<C: FindingCollector>(_ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.print, policy)
        guard policy.transfer.printBlocked else { return }
        findings.report(
            .block, .print, "printBlocked", of: policy,
            Wording(Texts.denialOrganisationDataMayNotBePrinted, Texts.denialReadItOnScreen))
    }

    /// SDK-NO-01, SRV-RS-039.
    private static func notify<C: FindingCollector>(_ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.notification, policy)
        switch policy.transfer.notifications {
        case .allow: return
        case .blockOrganizationalData:
            findings.report(
                .restrict, .notification, "notificationRestriction", of: policy,
                Wording(Texts.denialNotificationsShowNoOrganisationData, Texts.denialShowFixedTextAndOpenApp))
        case .block:
            findings.report(
                .block, .notification, "notificationRestriction", of: policy,
                Wording(Texts.denialThisWorkAccountShowsNoNotifications, Texts.denialOpenAppToSeeWhatIs))
        }
    }

    /// SDK-DT-30, SRV-RS-097.
    private static func captureScreen<C: FindingCollector>(_ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.screenCapture, policy)
        if policy.transfer.screenCapture == .blocked {
            findings.report(
                .block, .screenCapture, "screenCaptureConfigurationState", of: policy,
                Wording(Texts.denialScreenMayNotBeCapturedWhile, Texts.denialShareLinkInstead))
        }
        // What the administrator says of capture itself goes before what follows from another setting.
        if policy.transfer.screenCapture == nil && policy.transfer.outbound != .allApps && !policy.screenCaptureAllowed
        {
            findings.report(
                .block, .screenCapture, "allowedOutboundDataTransferDestinations", of: policy,
                Wording(
                    Texts.denialPictureOfScreenCouldBeSent,
                    Texts.denialAdministratorCanAllowScreenCaptureBy))
        }
    }

    /// SDK-FP-09, SRV-RS-028.
    private static func backUp<C: FindingCollector>(_ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.backup, policy)
        guard policy.storage.backupBlocked else { return }
        findings.report(
            .block, .backup, "dataBackupBlocked", of: policy,
            Wording(Texts.denialOrganisationFilesStayOutOfBackups, Texts.denialTheyComeBackFromOrganisationOwn))
    }

    /// SDK-FP-01, SRV-RS-075.
    private static func encrypt<C: FindingCollector>(_ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.encryption, policy)
        guard policy.storage.encryptionRequired else { return }
        findings.report(
            .restrict, .encryption, "appDataEncryptionType", of: policy,
            Wording(Texts.denialOrganisationFilesAreWrittenEncryptedOnly, Texts.denialWriteFileAsSealedFileOf)
        )
    }
}
