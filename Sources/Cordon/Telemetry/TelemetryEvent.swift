public import CordonIdentity
public import CordonProtocol
internal import Foundation

/// One event that telemetry reports about an app's protection (SDK-TE-01, SDK-TE-02, SRV-CI-072…075).
///
/// Names, fields and values come from closed lists: there is no place for free text, file names, addresses or contents. A
/// person appears by object id alone.
public struct TelemetryEvent: Sendable, Codable, Equatable {
    /// What happened: the three documented classes, then Cordon's own.
    public typealias Name = ReportedEvent.Kind
    /// How much a person's choice lets through; the field's numbers.
    public typealias PrivacyLevel = ReportedEvent.PrivacyLevel
    /// What kinds of data an event holds; the field's numbers. None of Cordon's events holds browsing or typing.
    public typealias DataTypes = ReportedEvent.DataTypes

    /// What an event may say besides its name.
    public enum Field: String, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
        /// `managed` or `unmanaged`.
        case management
        /// `yes` or `no`: whether the device's management is there besides.
        case deviceManagement
        /// The version of Cordon.
        case sdkVersion
        /// The version of the operating system.
        case osVersion
        /// `enrollment`, `checkIn` or `unenrollment`.
        case operation
        /// A status code from 100 to 228.
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
        /// How much was sent.
        case bytes

        /// Whether it is told as a number; any other is told as a word, whatever it looks like.
        var isAmount: Bool { [.status, .milliseconds, .bytes].contains(self) }
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
    /// Where it may be kept, as the app said; nil for anywhere (SRV-CI-073).
    public var region: ReportedEvent.Region?
    /// Who may be asked for it.
    public var privacyLevel: PrivacyLevel { name == .sdkAction ? .optional : .requiredDiagnostic }
    /// What kinds of data it holds.
    public var dataTypes: DataTypes {
        switch name {
        case .appLaunch: [.usage, .inventory]
        case .enrollment: [.performance, .connectivity]
        case .sdkAction, .launchOutcome: .usage
        case .policyApplied, .wipePhase: .performance
        }
    }
    /// How soon it matters.
    public var priority: ReportedEvent.Priority { name == .wipePhase ? .high : .normal }

    private enum CodingKeys: String, CodingKey { case name, account, tenant, time, properties, region }
}

extension TelemetryEvent {
    /// What the service is told: the fields as numbers and words. The account is not named, since the message comes from
    /// one.
    var reported: ReportedEvent {
        let numbers = properties.filter(\.key.isAmount).compactMap { field, text in
            Int64(text).map { (field.rawValue, $0) }
        }
        let words = properties.filter { !$0.key.isAmount }.map { ($0.rawValue, $1) }
        return ReportedEvent(
            name, privacy: privacyLevel, data: dataTypes, priority: priority,
            region: region ?? .global, time: time, amounts: Dictionary(numbers) { $1 }, words: Dictionary(words) { $1 })
    }
}

/// An app's own way of sending telemetry; the service then gets none (SDK-TE-04, SRV-CI-076).
public protocol TelemetryDelegate: Sendable {
    /// Sends one event by the app's own means, or not, as its person chose. Called on no particular thread.
    func send(_ event: TelemetryEvent) async
}
