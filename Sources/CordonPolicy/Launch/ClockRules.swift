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
                    Wording("You have clocked out; this app closes soon.", "Finish what is open, or clock in."))
                return
            }
            findings.report(
                consequence.verdict, .launchClock, "appActionIfAccountIsClockedOut", of: policy,
                consequence.wording("You have clocked out.", "Clock in to use the work account."))
        case nil, .notConfigured, .unknown, .clockedInStale, .clockedOutStale:
            findings.report(
                consequence.verdict, .launchClock, "appActionIfAccountIsClockedOut", of: policy,
                consequence.wording(
                    "It is not known whether you are at work, which counts as clocked out.",
                    "Check in with the service, or clock in."))
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
                    "The device's clock was turned back, so the time without check-in is not known.",
                    "Set the clock and check in with the service."))
            return
        }
        let limit = policy.launch.periodOfflineBeforeWipe
        if limit > .zero && since > limit {
            findings.report(
                .wipe, .launchOffline, "periodOfflineBeforeWipeIsEnforced", of: policy,
                Wording(
                    "The app was without contact to the organisation for longer than allowed.",
                    "The account's organisation data is removed from this app; sign in again to fetch it."))
        }
        if since > policy.launch.periodOfflineBeforeAccessCheck {
            findings.report(
                .block, .launchOffline, "periodOfflineBeforeAccessCheck", of: policy,
                Wording(
                    "The app was without contact to the organisation for longer than allowed.",
                    "Go online and check in."))
        }
    }
}
