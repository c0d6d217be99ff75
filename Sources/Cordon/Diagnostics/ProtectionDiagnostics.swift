internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
public import Foundation

/// Reports that help to find out why an app's protection does what it does.
///
/// Use it as ``AppProtection/diagnostics``. Any thread.
public struct ProtectionDiagnostics: Sendable {
    private let context: ProtectionContext
    private let rules: EnforcedRules

    init(_ context: ProtectionContext, rules: EnforcedRules) {
        self.context = context
        self.rules = rules
    }

    /// Everything that helps to find out why protection does what it does, for the person or for a support desk
    /// (SDK-LG-03).
    ///
    /// - Returns: A report without keys, tokens, contents, names of files and people, or values of the app configuration.
    public func report() -> DiagnosticReport {
        let states = context.accounts.rules
        let configuration = context.configuration
        let registered = Set(context.accounts.records.keys).union(context.pending.registered.map(\.account.id))
        let accounts = registered.union([context.accounts.debugged].compactMap(\.self))
        var strangers: [AccountID] = []
        // An app may ask by sign-in name about anybody.
        func name(_ account: AccountID) -> AccountID {
            let account = context.accounts.resolved(account)
            guard !registered.contains(account) else { return account }
            if !strangers.contains(account) { strangers.append(account) }
            return AccountID("unregistered-\((strangers.firstIndex(of: account) ?? 0) + 1)")
        }
        return DiagnosticReport(
            made: configuration.clock.now(), application: configuration.application, service: configuration.service,
            isClockTurnedBack: context.clock.read().turnedBack > 0,
            accounts: accounts.sorted { $0.rawValue < $1.rawValue }.map { describe($0, as: name($0), under: states) },
            waitingUnenrollments: context.pending.unenrollments.count,
            waitingReceipts: (try? context.wipes.load().records.count) ?? 0, isTelemetryEnabled: context.telemetry.isOn,
            denials: context.denials.entries.map { denial in
                var denial = denial
                denial.account = denial.account.map(name)
                return denial
            })
    }

    /// The log files, for an upload that the person agrees to. Their paths may reveal who uses the device, so reports leave them out.
    public var logs: [URL] { context.configuration.logs + (context.configuration.logFile?.files ?? []) }

    private func describe(
        _ account: AccountID, as name: AccountID, under states: RulesInForce
    ) -> DiagnosticReport.Account {
        let (record, state) = (context.accounts[account], states[account])
        let waiting = context.pending.registered.first { $0.account.id == account }
        return DiagnosticReport.Account(
            id: name, isEnrolled: record != nil, rules: state?.rules.name ?? "unknown",
            channel: rules.policyChannel(of: account), policyVersion: state?.version,
            policies: states.policies.policy(of: .managed(account))?.contributors ?? [],
            sequence: state?.sequence ?? 0, lastCheckIn: record?.lastCheckIn,
            next: record?.nextCheckIn ?? waiting?.nextAttempt, failures: record?.failures ?? waiting?.failures ?? 0,
            lastStatus: waiting?.lastStatus,
            conflicts: states.policies.policy(of: .managed(account))?.conflicts ?? [],
            configurationKeys: state?.delivery.configuration.keys.sorted() ?? [])
    }

    /// What an organisation gets when it asks for logs: one line of JSON, the diagnostic report about this account alone, then
    /// Cordon's own log without verbose lines, the oldest first, without what names another account.
    ///
    /// - Throws: ``ProtectionError`` with code `damagedContent` when the report has no JSON form.
    func logUpload(for account: ManagedAccount) throws(ProtectionError) -> Data {
        var report = report()
        report.accounts.removeAll { $0.id != account.id }
        report.denials.removeAll { $0.account != account.id }
        report.waitingUnenrollments = context.pending.unenrollments.count { $0.account == account.id }
        report.waitingReceipts =
            (try? context.wipes.load().records.count { $0.registration.account.id == account.id }) ?? 0
        guard var content = try? MessageCoding.encode(report) else {
            throw ProtectionError(.damagedContent, "the diagnostic report has no JSON form")
        }
        content.append(UInt8(ascii: "\n"))
        let others = (context.pending.registered.map(\.account) + context.accounts.records.values.map(\.account)).filter
        { $0.id != account.id }
        if let log = context.configuration.logFile {
            content += log.text(
                about: account, without: others.flatMap { [$0.id.rawValue, $0.userPrincipalName] },
                atMost: LogRequest.largestUpload - content.count)
        }
        return content
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
