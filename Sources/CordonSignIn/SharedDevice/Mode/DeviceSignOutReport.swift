/// How far an app has got with removing the data of a person who left (SI-060, SI-068).
public enum CleanUpStage: String, Sendable, Codable, CaseIterable, Comparable {
    /// Running work was stopped.
    case workStopped
    /// The data is gone, on the screen too.
    case dataCleared
    /// Everything is done; nothing is owed any more.
    case done

    /// In the order of a clean-up.
    public static func < (left: Self, right: Self) -> Bool { left.order < right.order }

    private var order: Int {
        switch self {
        case .workStopped: 0
        case .dataCleared: 1
        case .done: 2
        }
    }
}

/// What a sign-out of the whole device did.
public struct DeviceSignOutReport: Sendable, Codable, Equatable {
    /// What became of an app's clean-up within the time that the broker waits.
    public struct App: Sendable, Codable, Equatable {
        /// What became of it.
        public enum Outcome: String, Sendable, Codable {
            /// The app removed everything.
            case done
            /// The app was running when the sign-out began and did not finish in time; its data is sealed under a key that is gone.
            case late
            /// The app does not run; it cleans up when it next starts, its data is sealed meanwhile.
            case notRunning

            /// Reads a name; what a newer broker says of an app counts as not finished (SI-194).
            public init(from decoder: any Decoder) throws {
                self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .late
            }
        }

        /// The app's name in the broker's list.
        public var name: String
        /// The client id it used.
        public var clientID: String
        /// What became of it.
        public var outcome: Outcome
        /// How far it got, nil when it reported nothing.
        public var stage: CleanUpStage?

        /// Makes a line of the report.
        package init(name: String, clientID: String, outcome: Outcome, stage: CleanUpStage?) {
            self.name = name
            self.clientID = clientID
            self.outcome = outcome
            self.stage = stage
        }

        /// Reads a line; a newer broker may name a stage that this library does not know (SI-194).
        public init(from decoder: any Decoder) throws {
            let line = try decoder.container(keyedBy: CodingKeys.self)
            name = try line.decode(String.self, forKey: .name)
            clientID = try line.decode(String.self, forKey: .clientID)
            outcome = try line.decode(Outcome.self, forKey: .outcome)
            stage = try line.decodeIfPresent(String.self, forKey: .stage).flatMap(CleanUpStage.init(rawValue:))
        }
    }

    /// Whether anyone was signed in at all.
    public var hadAccount: Bool
    /// Whether the key of the session's data was destroyed; read back from the store. False where the broker's disk takes no change: the
    /// session has ended all the same, and its key is destroyed as soon as that can be.
    public var keyDestroyed: Bool
    /// What the provider was told: a ``RevocationOutcome``.
    public var revocation: String
    /// Whether the browser session at the provider may go on.
    public var browserSessionMayRemain: Bool
    /// Every app that had seen the account.
    public var apps: [App]
    /// The session number in force afterwards.
    public var session: UInt64

    /// Makes a report.
    package init(
        hadAccount: Bool, keyDestroyed: Bool, revocation: String, browserSessionMayRemain: Bool, apps: [App],
        session: UInt64
    ) {
        self.hadAccount = hadAccount
        self.keyDestroyed = keyDestroyed
        self.revocation = revocation
        self.browserSessionMayRemain = browserSessionMayRemain
        self.apps = apps
        self.session = session
    }
}
