public import CordonProtocol
internal import Foundation

/// What an organisation has once.
public struct TenantSettings: Sendable, Codable, Equatable {
    /// Rises with every change of a policy or group, so that what was computed from them can be kept till then.
    public var targetingRevision: Int64
    /// The accounts that may be used in an app, nil for no restriction.
    public var allowedAccounts: [PolicyEnvelope.AllowedAccount]?
    /// What the service asks of every app, nil for the usual.
    public var service: ServiceSettings?
    /// Whether the organisation is being moved to another service; nil for no (SRV-CI-055).
    public var isMoving: Bool?
    /// The backup that the store was put back from, until it was said to go on; nil otherwise.
    public internal(set) var restoration: StoreRestoration?
    /// From when on the tokens of people who administer count: a store that was put back from a backup knows no session that was ended
    /// since. Nil where none was.
    var administratorsSince: Date?
    /// What digests of secret values are made with, so that an export does not let them be guessed; nil before the organisation is
    /// opened.
    var secretSalt: String?

    /// How often all apps were told something at once, so that no row has to be written for it; nil for never.
    public internal(set) var epoch: Int64?
    /// The epoch whose envelopes are the first that count: the key that signed those before was taken out of use. Nil where
    /// all do.
    public internal(set) var envelopesSince: Int64?

    /// Whether the counts of people are whole: they are in a store that began with them, and in another after the first check.
    var countsPeople: Bool?
    /// How often these counts were corrected; nil for never.
    var countCorrections: Int64?

    /// The newest signed head of the audit log, nil before the first.
    var auditHead: AuditHead?
    /// How far a receiver has the audit log, nil where there is none yet.
    var auditDelivery: AuditDelivery?
    /// When the service was seen last by its clock; nil before the first maintenance.
    var presence: ServicePresence?
    /// When an alert about drifting apps was kept last.
    var driftAlerted: Date?

    /// Makes the settings of a new organisation.
    public init(targetingRevision: Int64 = 0, allowedAccounts: [PolicyEnvelope.AllowedAccount]? = nil) {
        self.targetingRevision = targetingRevision
        self.allowedAccounts = allowedAccounts
    }
}

extension TenantSettings: StoredRecord {
    /// Settings.
    public static var storageKind: StorageKind { .settings }
    /// The only one.
    public static let id = "tenant"
    /// Always ``id``.
    public var storageID: String { Self.id }
}
