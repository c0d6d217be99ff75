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
                await protection.windows.resume()
                screen.tell(
                    "policyChanged", "new rules for \(await names.name(of: account))",
                    ["account": .string(account.rawValue), "version": .string(version), "sequence": .integer(sequence)])
            case .envelopeRefused(let account, let error):
                screen.tell(
                    "envelopeRefused", "rules for \(await names.name(of: account)) were refused: \(error.reason)",
                    ["account": .string(account.rawValue), "code": .string(error.code.rawValue)])
            case .status(let report):
                screen.tell(
                    "status", "\(await names.name(of: report.account)): \(report.cause)",
                    [
                        "account": .string(report.account.rawValue), "status": .integer(Int64(report.status.rawValue)),
                        "operation": .string(report.operation.rawValue), "next": .string(report.nextStep.rawValue),
                    ])
            case .wipeStarted(let account, _):
                screen.tell(
                    "wipeStarted", "removing \(await names.name(of: account))", ["account": .string(account.rawValue)])
            case .wipeFinished(let account, let command, let succeeded):
                await takeAway(account)
                // Its person may have signed in again since.
                if await enrolledAccounts().contains(where: { $0.id == account }) { stayInTouch(account) }
                let rest = succeeded ? "" : ", but some of its files could not be deleted"
                screen.tell(
                    "wipeFinished", "\(await names.name(of: account)) was removed from this app\(rest)",
                    [
                        "account": .string(account.rawValue), "commandID": .string(command),
                        "succeeded": .bool(succeeded),
                    ])
            case .stateSetAside(let reason):
                screen.tell("stateSetAside", .line(reason), ["reason": .string(reason)])
            default: await tellMore(event)
            }
        }
    }

    private func tellMore(_ event: ProtectionEvent) async {
        switch event {
        case .stateRolledBack(let account):
            screen.tell(
                "stateRolledBack", "what is stored of \(await names.name(of: account)) is old; check in",
                ["account": .string(account.rawValue)])
        case .settingRefused(let reason):
            screen.tell("settingRefused", .line(reason), ["reason": .string(reason)])
        case .gate(let account, .closed(let reasons)):
            screen.tell(
                "gateClosed",
                "\(await names.name(of: account)) is closed: \(Self.cause(of: reasons))",
                ["account": .string(account.rawValue)])
        case .gate: break
        case .clockTurnedBack: screen.tell("clockTurnedBack", "the clock was turned back; check in")
        case .allowedAccountsChanged(let list):
            screen.tell(
                "allowedAccountsChanged",
                .line(list.map { "only \($0.joined(separator: ", "))" } ?? "every account is welcome"),
                ["list": list.map { .array($0.map { .string($0) }) } ?? .null])
        case .accountNotAllowed(let account):
            screen.tell(
                "accountNotAllowed", "\(await names.name(of: account)) may not be used here; sign it out",
                ["account": .string(account.rawValue)])
        case .deviceAccountChanged(let account):
            let who = if let account { await names.name(of: account) } else { "no one" }
            screen.tell(
                "deviceAccountChanged", "the device is enrolled for \(who)",
                ["account": account.map { .string($0.rawValue) } ?? .null])
        case .dataProtectionChanged(let account):
            screen.tell(
                "dataProtectionChanged", "other rules of encryption for \(await names.name(of: account))",
                ["account": .string(account.rawValue)])
        case .configurationChanged(let account):
            screen.tell(
                "configurationChanged", "the app's configuration for \(await names.name(of: account)) changed",
                ["account": .string(account.rawValue)])
        case .workingTimeChanged(let account, let status):
            screen.tell(
                "workingTimeChanged", "\(await names.name(of: account)) \(status.words)",
                ["account": .string(account.rawValue), "status": .integer(Int64(status.rawValue))])
        case .remediated(let result):
            screen.tell(
                "remediated", .line(result.message),
                ["account": .string(result.account.rawValue), "status": .integer(Int64(result.status.rawValue))])
        case .logs(let report):
            screen.tell(
                "logs", "logs for \(await names.name(of: report.account)): \(report.end.name)",
                ["account": .string(report.account.rawValue), "end": .string(report.end.name)])
        case .commandEnded(let account, let command, let succeeded):
            screen.tell(
                "commandEnded", "\(command.kind.rawValue) for \(await names.name(of: account))",
                [
                    "account": .string(account.rawValue), "kind": .string(command.kind.rawValue),
                    "succeeded": .bool(succeeded),
                ])
        case .restartAdvised(let account):
            // The documents' apps restart for new rules; this one has nothing to build anew.
            screen.tell(
                "restartAdvised",
                "the rules of \(await names.name(of: account)) hold from now on; no restart is needed",
                ["account": .string(account.rawValue)])
        default: break
        }
    }

    /// Why a gate closed, as the screens of the gate say it.
    private static func cause(of reasons: [PolicyReason]) -> String {
        reasons.first.map { ProtectionNotice.Cause($0).message } ?? "the app left the front"
    }
}

extension ClockStatus {
    /// What follows a person's name.
    fileprivate var words: String {
        switch self {
        case .notConfigured: "has no working time here"
        case .unknown: "may be at work or not: nothing was heard of it"
        case .clockedIn: "is at work"
        case .clockedOut: "is not at work"
        case .clockedInStale: "was at work when last heard of, too long ago"
        case .clockedOutStale: "was not at work when last heard of, too long ago"
        }
    }
}
