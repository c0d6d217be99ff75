public import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// One thing that is told about how an app's protection works (SDK-TE-01, SDK-TE-02, SRV-CI-072…075).
///
/// Names, fields and values are from closed lists: there is no place for free text, file names, addresses or contents. A
/// person appears by object id alone.
public struct TelemetryEvent: Sendable, Codable, Equatable {
    /// What happened: the three documented classes, then Cordon's own.
    public enum Name: String, Sendable, Codable, CaseIterable {
        /// The app was started; by kind of management.
        case appLaunch
        /// An enrolment or check-in ended.
        case enrollment
        /// The app called Cordon.
        case sdkAction
        /// New rules were put in force.
        case policyApplied
        /// A launch condition was not met.
        case launchOutcome
        /// A wipe has come a step further.
        case wipePhase
    }

    /// What an event may say besides its name.
    public enum Field: String, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
        /// `managed` or `unmanaged`.
        case management
        /// The version of Cordon.
        case sdkVersion
        /// The version of the operating system.
        case osVersion
        /// `enrollment`, `checkIn` or `unenrollment`.
        case operation
        /// A status code from 100 to 227.
        case status
        /// How long it took.
        case milliseconds
        /// The question that was asked.
        case action
        /// The verdict on it.
        case verdict
        /// The rule behind the verdict.
        case rule
        /// How far a wipe is.
        case phase
    }

    /// How much a person's choice lets through; the field's numbers.
    public enum PrivacyLevel: Int, Sendable, Codable, CaseIterable {
        /// Sent only to those who agreed to more than is needed.
        case optionalDiagnostic = 0
        /// Needed by the service.
        case requiredService = 1
        /// Needed to keep the service working.
        case requiredDiagnostic = 2
    }

    /// What kinds of data an event holds; the field's numbers. The kinds for browsing and typing do not exist here.
    public struct DataTypes: OptionSet, Sendable, Codable, Equatable {
        /// The sum of the kinds.
        public let rawValue: Int
        /// Makes a set from the sum of its kinds.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// How the product is used.
        public static let usage = DataTypes(rawValue: 1)
        /// How well it works.
        public static let performance = DataTypes(rawValue: 2)
        /// The device and its connection.
        public static let connectivity = DataTypes(rawValue: 4)
        /// What is installed.
        public static let inventory = DataTypes(rawValue: 8)
    }

    /// What happened.
    public var name: Name
    /// The account it concerns, nil for none.
    public var account: AccountID?
    /// The organisation it concerns, nil for none.
    public var tenant: TenantID?
    /// When, in whole seconds since 1970.
    public var time: Int64
    /// The fields.
    public var properties: [Field: String]
    /// Who may be asked for it.
    public var privacyLevel: PrivacyLevel { name == .sdkAction ? .optionalDiagnostic : .requiredDiagnostic }
    /// What kinds of data it holds.
    public var dataTypes: DataTypes {
        switch name {
        case .appLaunch: [.usage, .inventory]
        case .enrollment: [.performance, .connectivity]
        case .sdkAction, .launchOutcome: .usage
        case .policyApplied, .wipePhase: .performance
        }
    }
    /// From 1, low, to 4, at once.
    public var priority: Int { name == .wipePhase ? 3 : 2 }

    private enum CodingKeys: String, CodingKey { case name, account, tenant, time, properties }
}

extension TelemetryEvent {
    /// What the service is told: the fields as numbers and words. The account is not named, since the message comes from
    /// one.
    var reported: ReportedEvent {
        let numbers = properties.compactMap { field, text in Int64(text).map { (field.rawValue, $0) } }
        let words = properties.filter { Int64($1) == nil }.map { ($0.rawValue, $1) }
        return ReportedEvent(
            ReportedEvent.Kind(name), privacy: ReportedEvent.PrivacyLevel(privacyLevel),
            data: ReportedEvent.DataTypes(rawValue: dataTypes.rawValue), priority: name == .wipePhase ? .high : .normal,
            time: time, amounts: Dictionary(numbers) { $1 }, words: Dictionary(words) { $1 })
    }
}

extension ReportedEvent.Kind {
    fileprivate init(_ name: TelemetryEvent.Name) {
        self =
            switch name {
            case .appLaunch: .appLaunch
            case .enrollment: .enrollment
            case .sdkAction: .sdkAction
            case .policyApplied: .policyApplied
            case .launchOutcome: .launchOutcome
            case .wipePhase: .wipePhase
            }
    }
}

extension ReportedEvent.PrivacyLevel {
    fileprivate init(_ level: TelemetryEvent.PrivacyLevel) {
        self =
            switch level {
            case .optionalDiagnostic: .optional
            case .requiredService: .requiredService
            case .requiredDiagnostic: .requiredDiagnostic
            }
    }
}

/// An app's own way of sending telemetry; the service then gets none (SDK-TE-04, SRV-CI-076).
public protocol TelemetryDelegate: Sendable {
    /// Sends one event by the app's own means, or not, as its person chose. Called on no particular thread.
    func send(_ event: TelemetryEvent) async
}
