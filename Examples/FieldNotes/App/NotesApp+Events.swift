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
                screen.tell(
                    "policyChanged", "new rules for \(account)",
                    ["account": .string(account.rawValue), "version": .string(version), "sequence": .integer(sequence)])
            case .envelopeRefused(let account, let error):
                screen.tell(
                    "envelopeRefused", "rules for \(account) were refused: \(error.reason)",
                    ["account": .string(account.rawValue), "code": .string(error.code.rawValue)])
            case .status(let account, let status):
                screen.tell(
                    "status", "\(account): \(status.explanation)",
                    ["account": .string(account.rawValue), "status": .integer(Int64(status.rawValue))])
            case .wipeStarted(let account, _):
                screen.tell("wipeStarted", "removing \(account)", ["account": .string(account.rawValue)])
            case .wipeFinished(let account, let command, let succeeded):
                if current == .managed(account) { current = .personal }
                screen.tell(
                    "wipeFinished", "\(account) was removed from this app",
                    [
                        "account": .string(account.rawValue), "commandID": .string(command),
                        "succeeded": .bool(succeeded),
                    ])
            case .stateSetAside(let reason):
                screen.tell("stateSetAside", reason, ["reason": .string(reason)])
            }
        }
    }
}
