internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy

/// What the rules and settings in force mean for the log.
extension AppProtection {
    /// Tells the log how much to write, and which values of the app configurations to leave out (SDK-ST-33, SDK-ST-35).
    nonisolated func publishToLog() {
        guard let log = configuration.logFile else { return }
        let settings = settings
        log.follow(settings)
        let configurations = accounts.rules.accounts.values.map(\.delivery.configuration)
        var values: Set<String> = []
        for key in settings.scrubbedKeys {
            for value in configurations.flatMap({ $0.values(for: key) }) { values.formUnion(Self.texts(in: value)) }
        }
        log.scrub(values)
    }

    /// Every text that a value may appear as; truth values and short numbers would blacken every line.
    private static func texts(in value: JSONValue) -> Set<String> {
        switch value {
        case .string(let text): text.isEmpty ? [] : [text]
        case .integer(let number): number.magnitude < 1000 ? [] : [String(number)]
        case .array(let values): values.reduce(into: []) { $0.formUnion(texts(in: $1)) }
        case .object(let members): members.values.reduce(into: []) { $0.formUnion(texts(in: $1)) }
        default: []
        }
    }

    /// Part of a wipe: what the log says of an account goes.
    nonisolated func forgetLog(of account: ManagedAccount) {
        configuration.logFile?.forget([account.id.rawValue, account.userPrincipalName])
    }
}
