internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension AppProtection {
    /// Everything that helps to find out why protection does what it does, for the person or for a support desk
    /// (SDK-LG-03).
    ///
    /// - Returns: A report without keys, tokens, contents, names of files or values of the app configuration.
    public func diagnosticReport() -> DiagnosticReport {
        let standings = accounts.rules
        let accounts = Set(records.keys).union(pending.registered.map(\.account.id)).union(
            [accounts.debugged].compactMap(\.self))
        return DiagnosticReport(
            made: configuration.clock.now(), application: configuration.application, service: configuration.service,
            isClockTurnedBack: clock.read().turnedBack > 0,
            accounts: accounts.sorted { $0.rawValue < $1.rawValue }.map { describe($0, under: standings) },
            waitingUnenrollments: pending.unenrollments.count,
            waitingReceipts: (try? context.wipes.load().records.count) ?? 0, isTelemetryEnabled: telemetry.isOn,
            denials: denials.entries, logs: configuration.logs + (configuration.logFile?.files ?? []))
    }

    private func describe(_ account: AccountID, under standings: RulesInForce) -> DiagnosticReport.Account {
        let (record, standing) = (records[account], standings[account])
        let waiting = pending.registered.first { $0.account.id == account }
        return DiagnosticReport.Account(
            id: account, isEnrolled: record != nil, rules: standing?.rules.name ?? "unknown",
            channel: policyChannel(of: account), policyVersion: standing?.version,
            policies: standings.policies.policy(of: .managed(account))?.contributors ?? [],
            sequence: standing?.sequence ?? 0, lastCheckIn: record?.lastCheckIn,
            next: record?.nextCheckIn ?? waiting?.nextAttempt, failures: record?.failures ?? waiting?.failures ?? 0,
            lastStatus: waiting?.lastStatus,
            conflicts: standings.policies.policy(of: .managed(account))?.conflicts ?? [],
            configurationKeys: standing?.delivery.configuration.keys.sorted() ?? [])
    }
}

extension AccountState.Rules {
    fileprivate var name: String {
        switch self {
        case .policy: "policy"
        case .noneTargeted: "none targeted"
        case .unreadable: "unreadable"
        }
    }
}
