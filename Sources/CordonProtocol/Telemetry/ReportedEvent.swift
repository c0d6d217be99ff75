/// One thing that happened in an app, as the service is told of it, without anything that a person wrote
/// (SRV-CI-072…075).
///
/// There is no place for free text, file names, addresses or contacts: what happened is one of a closed list, and details
/// are numbers and short words of letters, digits and `_.-`.
public struct ReportedEvent: Sendable, Codable, Equatable {
    /// What happened.
    public var kind: Kind
    /// Whether the service cannot do without it.
    public var privacy: PrivacyLevel
    /// What sort of data it is.
    public var data: DataTypes
    /// How soon it matters.
    public var priority: Priority
    /// Where it may be kept.
    public var region: Region
    /// When, in whole seconds since 1970.
    public var time: Int64
    /// Amounts by name, such as `milliseconds`.
    public var amounts: [String: Int64]
    /// Short words by name, such as `action`.
    public var words: [String: String]

    /// What can be reported (SRV-CI-072).
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The app was launched.
        case appLaunch
        /// An enrolment call ended.
        case enrollment
        /// Cordon did something in the app.
        case sdkAction
        /// A policy came into force.
        case policyApplied
        /// A launch condition acted.
        case launchOutcome
        /// A wipe reached a phase.
        case wipePhase
    }

    /// The documented numbers of privacy levels.
    public enum PrivacyLevel: Int, Sendable, Codable {
        /// Diagnostics that a person may decline.
        case optional = 0
        /// What the service needs to work.
        case requiredService = 1
        /// Diagnostics that keep the product working.
        case requiredDiagnostic = 2
    }

    /// The documented flags of data types.
    public struct DataTypes: OptionSet, Sendable, Codable, Hashable {
        /// The sum of the flags.
        public let rawValue: Int

        /// Makes a set of flags.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Use of the product.
        public static let usage = DataTypes(rawValue: 1)
        /// Speed.
        public static let performance = DataTypes(rawValue: 2)
        /// Connectivity and configuration.
        public static let connectivity = DataTypes(rawValue: 4)
        /// Set-up and inventory.
        public static let inventory = DataTypes(rawValue: 8)
        /// Browsing history; refused by the service.
        public static let browsing = DataTypes(rawValue: 16)
        /// Inking, typing and speech; refused by the service.
        public static let typing = DataTypes(rawValue: 32)

        /// What the service takes.
        public static let accepted: DataTypes = [.usage, .performance, .connectivity, .inventory]
    }

    /// The documented numbers of priorities.
    public enum Priority: Int, Sendable, Codable {
        /// Can wait.
        case low = 1
        /// As usual.
        case normal = 2
        /// Soon.
        case high = 3
        /// Now.
        case immediate = 4
    }

    /// The documented numbers of regions.
    public enum Region: Int, Sendable, Codable {
        /// Anywhere.
        case global = 0
        /// The European Union.
        case europeanUnion = 1
    }

    /// Makes an event.
    public init(
        _ kind: Kind, privacy: PrivacyLevel, data: DataTypes, priority: Priority = .normal, region: Region = .global,
        time: Int64, amounts: [String: Int64] = [:], words: [String: String] = [:]
    ) {
        self.kind = kind
        self.privacy = privacy
        self.data = data
        self.priority = priority
        self.region = region
        self.time = time
        self.amounts = amounts
        self.words = words
    }
}
