/// What an app does next so that an account's data may be shown.
public enum LaunchAction: Sendable, Hashable {
    /// Remove the account's data.
    case wipe
    /// Check in with the service.
    case checkIn
    /// Ask for the work sign-in.
    case signIn
    /// Have a new PIN made, after a fresh sign-in.
    case resetPIN
    /// Ask for the PIN.
    case askPIN
    /// Say why the data stays closed; nothing the person does here opens it.
    case refuse
    /// Show a notice, then go on.
    case notify
}

extension PolicyDecision {
    /// What to do next after a launch question, the gravest first; empty when the data may be shown.
    public var launchActions: [LaunchAction] {
        var actions: [LaunchAction] = []
        for reason in reasons {
            let action = Self.action(for: reason)
            if !actions.contains(action) { actions.append(action) }
        }
        return actions
    }

    private static func action(for reason: PolicyReason) -> LaunchAction {
        switch reason.verdict {
        case .wipe: return .wipe
        case .warn, .restrict, .allow: return .notify
        case .block: break
        }
        switch Rule(rawValue: reason.rule) {
        case .policyUnknown, .launchOffline, .launchClock: return .checkIn
        case .launchCredentials: return .signIn
        case .launchPINAttempts, .launchPINAge: return .resetPIN
        case .launchPIN: return .askPIN
        default: return reason.setting == "pinRequired" ? .askPIN : .refuse
        }
    }
}
