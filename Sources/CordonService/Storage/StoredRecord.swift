/// A value that a ``ServiceStorage`` keeps under an id and finds by further values.
///
/// Stores keep the coded form, so a type may gain members but must go on reading what it once wrote.
public protocol StoredRecord: Codable, Sendable, Equatable {
    /// The kind of record, unique among all types and never changed.
    static var storageKind: StorageKind { get }
    /// The id, unique within tenant and kind.
    var storageID: String { get }
    /// The values by which it can be found; empty by default.
    var lookups: [StorageLookup: String] { get }
}

extension StoredRecord {
    /// None.
    public var lookups: [StorageLookup: String] { [:] }
}

/// The kinds of records; the raw values stand in stores.
public enum StorageKind: String, Sendable, CaseIterable {
    /// ``ManagedAppPolicy``.
    case policy
    /// ``EntityVersion``.
    case version
    /// ``VersionDocument``.
    case versionDocument
    /// ``DeliveredRules``.
    case deliveredRules
    /// ``WaitingChange``.
    case waitingChange
    /// Who could release one.
    case approvers
    /// What an administrator has removed in the last hour.
    case wipeBudget
    /// ``DirectoryUser``.
    case user
    /// ``GroupEntry``.
    case group
    /// ``GroupMembership``.
    case membership
    /// ``Registration``.
    case registration
    /// ``WipeOperation``.
    case operation
    /// ``IssuedCommand``.
    case command
    /// ``EventBookmark``.
    case events
    /// ``ServiceSigningKey``.
    case signingKey
    /// ``TenantSettings``.
    case settings
    /// ``UserBlock``.
    case block
    /// ``RemovedPerson``.
    case removedPerson
    /// ``AssignmentFilter``.
    case filter
    /// ``ScopeTag``.
    case scopeTag
    /// ``CatalogueApp``.
    case catalogueApp
    /// ``ExportJob``.
    case exportJob
    /// ``ReportFilter``.
    case reportFilter
    /// ``WorkingTimeRecord``.
    case workingTime
    /// ``TelemetryRecord``.
    case telemetry
    /// ``TelemetryDay``.
    case telemetryDay
    /// ``LogCollection``.
    case logCollection
    /// ``LogPiece``.
    case logPiece
    /// ``DirectorySource``.
    case directorySource
    /// ``DirectorySourceSummary``.
    case directorySourceSummary
    /// ``SharedDevice``.
    case sharedDevice
    /// ``CustomRole``.
    case customRole
    /// ``SessionRevocation``.
    case revocation
    /// ``OperatorAlert``.
    case alert
    /// ``KeySetState``.
    case keySet
    /// ``Announcement``.
    case announcement
    /// A session of the console, sealed.
    case consoleSession
    /// What an app has left for a person who forgets the PIN, sealed by the device.
    case recoveryShare
    /// What figures count of a person.
    case standing
    /// How many people are alike.
    case standingCount
    /// People who are still to be counted.
    case standingBacklog
    /// ``StoreProbe``.
    case probe
}

/// What a record can be found by; the raw values stand in stores.
public enum StorageLookup: String, Sendable, CaseIterable {
    /// The folded id of a person.
    case user
    /// What a version is of, folded.
    case entity
    /// The folded sign-in name of a person.
    case name
    /// What else a provider calls a person, folded.
    case subject
    /// The folded bundle id of an app.
    case app
    /// The thumbprint of a registration's key.
    case key
    /// The id of a registration.
    case registration
    /// Whether the record still counts: `open`, of a registration `active`, of a wipe that failed and that none took the place of `failed`;
    /// absent otherwise.
    case state
    /// The id of a collection of logs.
    case collection
    /// Who or what is in a group.
    case member
    /// That the member of a group is a group: `group`, absent otherwise.
    case nested
    /// When a record is to be put away or ended, with the reason in front: ``StorageTime``.
    case due
    /// Since when an app may have other rules in force than it should.
    case drift
    /// Since when a device has found something wrong with itself.
    case flagged
    /// A part of a day's telemetry.
    case day
    /// The folded tag of a registration's device.
    case device
    /// The folded display name of a person or a group, with the id: the order of a list by name.
    case shown
    /// When a record was asked for, the newest first, with its id.
    case newest
}
