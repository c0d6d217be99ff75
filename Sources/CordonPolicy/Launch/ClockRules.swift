internal import CordonBase

/// What depends on time: working time, time without check-in, a clock turned back.
enum ClockRules {
    /// SRV-RS-069, SRV-RS-087: once set, missing and stale clock data count as clocked out.
    static func workingTime<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard let asked = policy.launch.actionIfClockedOut else { return }
        findings.consider(.launchClock, policy)
        let consequence = Consequence(asked, of: .blockOrWarn)
        switch facts.clockStatus {
        case .clockedIn: return
        case .clockedOut:
            if let grace = policy.launch.offClockGracePeriod, let since = facts.sinceClockOut, since >= .zero,
                since < grace
            {
                findings.report(
                    .warn, .launchClock, "gracePeriodToBlockAppsDuringOffClockHours", of: policy,
                    Wording(Texts.denialYouHaveClockedOutThisApp, Texts.denialFinishWhatIsOpenOrClock))
                return
            }
            findings.report(
                consequence.verdict, .launchClock, "appActionIfAccountIsClockedOut", of: policy,
                consequence.wording(Texts.denialYouHaveClockedOut, Texts.denialClockInToUseWorkAccount))
        case nil, .notConfigured, .unknown, .clockedInStale, .clockedOutStale:
            findings.report(
                consequence.verdict, .launchClock, "appActionIfAccountIsClockedOut", of: policy,
                consequence.wording(
                    Texts.denialItIsNotKnownWhetherYou,
                    Texts.denialCheckInWithServiceOrClock))
        }
    }

    /// SRV-RS-054, SRV-RS-055: limits hold whether or not a PIN or a sign-in is required.
    static func offline<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.launchOffline, policy)
        guard let since = facts.sinceCheckIn else {
            findings.missing(
                "device.minutesSinceCheckIn", for: .launchOffline, "periodOfflineBeforeAccessCheck", of: policy)
            return
        }
        if since < .zero {
            findings.report(
                .block, .launchClockTurnedBack, "", of: policy,
                Wording(
                    Texts.denialDeviceClockWasTurnedBackSo,
                    Texts.denialSetClockAndCheckInWith))
            return
        }
        let limit = policy.launch.periodOfflineBeforeWipe
        if limit > .zero && since > limit {
            findings.report(
                .wipe, .launchOffline, "periodOfflineBeforeWipeIsEnforced", of: policy,
                Wording(
                    Texts.denialAppWasWithoutContactToOrganisation,
                    Texts.denialAccountOrganisationDataIsRemovedFrom))
        }
        if since > policy.launch.periodOfflineBeforeAccessCheck {
            findings.report(
                .block, .launchOffline, "periodOfflineBeforeAccessCheck", of: policy,
                Wording(
                    Texts.denialAppWasWithoutContactToOrganisation,
                    Texts.denialGoOnlineAndCheckIn))
        }
    }
}
