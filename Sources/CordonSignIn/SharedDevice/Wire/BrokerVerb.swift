/// What an app can ask the broker (docs/broker-protocol.md).
package enum BrokerVerb: String, Codable, Sendable, CaseIterable {
    case hello
    case deviceInfo = "device.info"
    case deviceJoin = "device.join"
    case deviceLeave = "device.leave"
    case accountCurrent = "account.current"
    case accountList = "account.list"
    case accountKey = "account.key"
    case accountSignOut = "account.signout"
    case accountActivity = "account.activity"
    case accountForget = "account.forget"
    case tokenInteractive = "token.interactive"
    case tokenDevice = "token.device"
    case tokenReturn = "token.return"
    case tokenCancel = "token.cancel"
    case tokenSilent = "token.silent"
    case tokenKey = "token.key"
    case tokenProof = "token.proof"
    case cleanUpReport = "cleanup.report"
    case eventsSubscribe = "events.subscribe"

    /// How long a client waits for the answer (SI-188).
    package var deadline: Duration {
        switch self {
        case .tokenInteractive, .tokenDevice, .deviceJoin, .deviceLeave, .accountSignOut: .seconds(600)
        case .tokenSilent: .seconds(30)
        default: .seconds(2)
        }
    }

    /// Whether the broker answers from what it knows, without a person or a provider.
    package var isAboutState: Bool { deadline <= .seconds(2) }

    /// Whether the answer is usually there at once, and may be asked for again and again.
    var isShort: Bool { self == .deviceInfo || self == .tokenSilent }

    /// Whether a person takes part, so that the request can be cancelled.
    package var isAttended: Bool { deadline > .seconds(30) }

    /// Whether a request that met a lost connection may be made once more over a new one. What names an earlier request may
    /// not: over another connection the number means another one.
    package var isRepeatable: Bool { isAboutState && self != .tokenReturn && self != .tokenCancel }
}
