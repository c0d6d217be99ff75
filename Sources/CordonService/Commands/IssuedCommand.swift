public import CordonIdentity
public import CordonProtocol
public import Foundation

/// Something other than a wipe that one registration's app is told to do, from the request to the app's report
/// (SRV-CI-006).
public struct IssuedCommand: Sendable, Codable, Equatable {
    /// What an administrator may tell an app to do; wipes and logs have calls of their own.
    public static let kinds: Set<Command.Kind> = [.refreshConfiguration, .reRegister, .resetPIN]

    /// The id; also the id of the command in the envelope.
    public let id: String
    /// The registration whose app is told.
    public let registrationID: String
    /// The account that it is about.
    public let account: AccountID
    /// The app.
    public let bundleID: String
    /// What to do.
    public let kind: Command.Kind
    /// The administrator's id.
    public let requestedBy: String
    /// When it was asked for.
    public let requested: Date
    /// When it lapses.
    public let notAfter: Date
    /// How far it is.
    public var state: State
    /// When it last made a step.
    public var modified: Date

    /// How far a command is.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Asked for; may still be taken back.
        case pending
        /// Handed out in a signed envelope.
        case delivered
        /// The app did it.
        case succeeded
        /// The app could not do it.
        case failed
        /// Taken back before it was delivered.
        case cancelled
        /// Not reported in time, or the registration ended before.
        case expired

        /// Whether the app may still be told.
        public var isOpen: Bool { self == .pending || self == .delivered }

        /// Whether a report still changes something; a late one does, because it is true.
        public var awaitsReport: Bool { isOpen || self == .expired }
    }

    /// Makes a command that waits.
    public init(
        id: String, registrationID: String, account: AccountID, bundleID: String, kind: Command.Kind,
        requestedBy: String, requested: Date, notAfter: Date
    ) {
        self.id = id
        self.registrationID = registrationID
        self.account = account
        self.bundleID = bundleID
        self.kind = kind
        self.requestedBy = requestedBy
        self.requested = requested
        self.notAfter = notAfter
        self.state = .pending
        self.modified = requested
    }

    /// The command as an envelope carries it.
    var command: Command {
        Command(
            id: id, kind: kind, account: account, reason: .device, issuedAt: Int64(requested.timeIntervalSince1970),
            notAfter: Int64(notAfter.timeIntervalSince1970))
    }
}

extension IssuedCommand: StoredRecord, NewestFirst {
    /// Commands.
    public static var storageKind: StorageKind { .command }
    /// The command's id.
    public var storageID: String { id }
    /// The registration; when it was asked for; ``StorageLookup/state`` while open; when it lapses or, once ended, is put away.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [.registration: registrationID, .newest: place]
        if state.isOpen { lookups[.state] = "open" }
        lookups[.due] = state.isOpen ? "open/" + StorageTime.text(notAfter) : "ended/" + StorageTime.text(modified)
        return lookups
    }
}
