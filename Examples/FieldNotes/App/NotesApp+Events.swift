import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol

extension NotesApp {
    /// Tells the person what happens by itself: new rules, refusals, wipes.
    func followEvents() async {
        guard let protection else { return }
        for await event in protection.events() {
            switch event {
            case .policyChanged(let account, let version, let sequence):
                // The new rules may not let a window go on showing the account.
                await protection.resumeWindows()
                screen.tell(
                    "policyChanged", "new rules for \(account)",
                    ["account": .string(account.rawValue), "version": .string(version), "sequence": .integer(sequence)])
            case .envelopeRefused(let account, let error):
                screen.tell(
                    "envelopeRefused", "rules for \(account) were refused: \(error.reason)",
                    ["account": .string(account.rawValue), "code": .string(error.code.rawValue)])
            case .status(let report):
                screen.tell(
                    "status", "\(report.account): \(report.cause)",
                    [
                        "account": .string(report.account.rawValue), "status": .integer(Int64(report.status.rawValue)),
                        "operation": .string(report.operation.rawValue), "next": .string(report.nextStep.rawValue),
                    ])
            case .wipeStarted(let account, _):
                screen.tell("wipeStarted", "removing \(account)", ["account": .string(account.rawValue)])
            case .wipeFinished(let account, let command, let succeeded):
                await takeAway(account)
                screen.tell(
                    "wipeFinished", "\(account) was removed from this app",
                    [
                        "account": .string(account.rawValue), "commandID": .string(command),
                        "succeeded": .bool(succeeded),
                    ])
            case .stateSetAside(let reason):
                screen.tell("stateSetAside", reason, ["reason": .string(reason)])
            default: tellMore(event)
            }
        }
    }

    private func tellMore(_ event: ProtectionEvent) {
        switch event {
        case .stateRolledBack(let account):
            screen.tell(
                "stateRolledBack", "what is stored of \(account) is old; check in",
                ["account": .string(account.rawValue)])
        case .settingRefused(let reason):
            screen.tell("settingRefused", reason, ["reason": .string(reason)])
        case .gate(let account, .closed(let reasons)):
            screen.tell(
                "gateClosed", "\(account) is closed: \(reasons.first?.message ?? "the app left the front")",
                ["account": .string(account.rawValue)])
        case .gate: break
        case .clockTurnedBack: screen.tell("clockTurnedBack", "the clock was turned back; check in")
        case .allowedAccountsChanged(let list):
            screen.tell(
                "allowedAccountsChanged",
                list.map { "only \($0.joined(separator: ", "))" } ?? "every account is welcome",
                ["list": list.map { .array($0.map { .string($0) }) } ?? .null])
        case .accountNotAllowed(let account):
            screen.tell(
                "accountNotAllowed", "\(account) may not be used here; sign it out",
                ["account": .string(account.rawValue)])
        case .deviceAccountChanged(let account):
            screen.tell(
                "deviceAccountChanged", "the device is enrolled for \(account?.rawValue ?? "nobody")",
                ["account": account.map { .string($0.rawValue) } ?? .null])
        case .dataProtectionChanged(let account):
            screen.tell(
                "dataProtectionChanged", "other rules of encryption for \(account)",
                ["account": .string(account.rawValue)])
        case .configurationChanged(let account):
            screen.tell(
                "configurationChanged", "the app's configuration for \(account) changed",
                ["account": .string(account.rawValue)])
        case .workingTimeChanged(let account, let status):
            screen.tell(
                "workingTimeChanged", "\(account) is \(status)",
                ["account": .string(account.rawValue), "status": .integer(Int64(status.rawValue))])
        case .remediated(let result):
            screen.tell(
                "remediated", result.message,
                ["account": .string(result.account.rawValue), "status": .integer(Int64(result.status.rawValue))])
        case .logs(let report):
            screen.tell(
                "logs", "logs for \(report.account): \(report.end.name)",
                ["account": .string(report.account.rawValue), "end": .string(report.end.name)])
        case .commandEnded(let account, let command, let succeeded):
            screen.tell(
                "commandEnded", "\(command.kind.rawValue) for \(account)",
                [
                    "account": .string(account.rawValue), "kind": .string(command.kind.rawValue),
                    "succeeded": .bool(succeeded),
                ])
        case .restartAdvised(let account):
            screen.tell("restartAdvised", AppProtection.restartMessage, ["account": .string(account.rawValue)])
        default: break
        }
    }
}
