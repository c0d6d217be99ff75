internal import CordonBase

/// PIN and sign-in (SDK-CL-03, SRV-RS-025, 042…053).
enum AccessRules {
    static func apply<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        appPIN(facts, policy, to: &findings)
        credentials(facts, policy, to: &findings)
    }

    static func appPIN<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard isPINNeeded(facts, policy) else { return }
        attempts(facts, policy, to: &findings)
        age(facts, policy, to: &findings)
        pin(facts, policy, to: &findings)
    }

    /// An app PIN is not asked for on a device that has a passcode, if the policy says so (SRV-RS-052).
    static func isPINNeeded(_ facts: borrowing DeviceFacts, _ policy: PolicyInForce) -> Bool {
        policy.access.pinRequired && !(policy.access.disableAppPinIfDevicePinIsSet && facts.devicePINSet == true)
    }

    private static func attempts<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.launchPINAttempts, policy)
        guard let failed = facts.failedPINAttempts else {
            findings.missing("device.failedPINAttempts", for: .launchPINAttempts, "maximumPinRetries", of: policy)
            return
        }
        guard failed >= policy.access.maximumPinRetries else { return }
        if policy.access.actionIfMaximumPinRetriesExceeded == .wipe {
            findings.report(
                .wipe, .launchPINAttempts, "appActionIfMaximumPinRetriesExceeded", of: policy,
                Wording(
                    Texts.denialPinWasEnteredWronglyTooOften,
                    Texts.denialAccountOrganisationDataIsRemovedFrom))
        } else {
            findings.report(
                .block, .launchPINAttempts, "maximumPinRetries", of: policy,
                Wording(Texts.denialPinWasEnteredWronglyTooOften, Texts.denialSignInWithWorkAccountAnd))
        }
    }

    private static func age<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        let limit = policy.access.periodBeforePinReset
        guard limit > .zero else { return }
        findings.consider(.launchPINAge, policy)
        guard let age = facts.pinAge else {
            findings.missing("device.minutesSincePINSet", for: .launchPINAge, "periodBeforePinReset", of: policy)
            return
        }
        if age < .zero {
            turnedBack(policy, &findings)
        } else if age > limit {
            findings.report(
                .block, .launchPINAge, "periodBeforePinReset", of: policy,
                Wording(Texts.denialPinIsTooOld, Texts.denialSetNewPIN))
        }
    }

    private static func pin<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.launchPIN, policy)
        guard let since = facts.sincePIN else {
            findings.missing("device.minutesSincePIN", for: .launchPIN, "pinRequired", of: policy)
            return
        }
        if since < .zero {
            turnedBack(policy, &findings)
        } else if since > policy.access.periodOnlineBeforeAccessCheck {
            findings.report(
                .block, .launchPIN, "periodOnlineBeforeAccessCheck", of: policy,
                Wording(Texts.denialAppWasNotUsedForWhile, Texts.denialEnterPIN))
        }
    }

    static func credentials<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard policy.access.organizationalCredentialsRequired else { return }
        findings.consider(.launchCredentials, policy)
        guard let since = facts.sinceSignIn else {
            findings.missing(
                "device.minutesSinceSignIn", for: .launchCredentials, "organizationalCredentialsRequired", of: policy)
            return
        }
        if since < .zero {
            turnedBack(policy, &findings)
        } else if since > policy.access.periodOnlineBeforeAccessCheck {
            findings.report(
                .block, .launchCredentials, "organizationalCredentialsRequired", of: policy,
                Wording(Texts.denialOrganisationAsksForFreshSignIn, Texts.denialSignInWithWorkAccount))
        }
    }

    private static func turnedBack<C: FindingCollector>(_ policy: PolicyInForce, _ findings: inout C) {
        findings.report(
            .block, .launchClockTurnedBack, "", of: policy,
            Wording(Texts.denialDeviceClockWasTurnedBack, Texts.denialSetClockThenEnterPINOr))
    }
}
