public import CordonIdentity
public import CordonProtocol
public import Foundation

/// A selective wipe of one registration, from the request to its receipt (SRV-TG-23…31).
public struct WipeOperation: Sendable, Codable, Equatable {
    /// The id; also the id of the command in the envelope.
    public let id: String
    /// The registration to wipe.
    public let registrationID: String
    /// The account to wipe.
    public let account: AccountID
    /// The app.
    public let bundleID: String
    /// Why.
    public let reason: Command.Reason
    /// The administrator's id, or the registration's own id where the device decided.
    public let requestedBy: String
    /// When it was asked for.
    public let requested: Date
    /// When the command lapses.
    public let notAfter: Date
    /// Which attempt this is, from 1 (SRV-TG-29).
    public let attempt: Int
    /// Changes on every step.
    public var version: String
    /// How far it is.
    public private(set) var state: State
    /// When it last made a step.
    public private(set) var modified: Date
    /// What could not be removed, nil unless failed.
    public var failure: String?
    /// The verified receipt, compact JWS.
    public var receipt: String?
    /// The wipe that took its place: when the app registered again, when this one failed and was issued anew, or when another one removed
    /// everything; nil for none.
    public var successorID: String?
    /// The steps that it has made since it was asked for, with their times; nil for one that a version before moved on.
    public private(set) var steps: [Step]?
    /// Why the device decided it itself, as its receipt says; nil for one that was asked for (SRV-CI-012).
    public internal(set) var cause: String?

    /// A step that a wipe has made.
    public struct Step: Sendable, Codable, Equatable {
        /// What it came to.
        public let state: State
        /// When.
        public let time: Date

        /// Names a step.
        public init(state: State, time: Date) {
            self.state = state
            self.time = time
        }
    }

    /// How far a wipe is (SRV-TG-26).
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Asked for; may still be cancelled.
        case pending
        /// Handed out in a signed envelope.
        case delivered
        /// The app has begun.
        case acknowledged
        /// All was removed, proved by a receipt.
        case succeeded
        /// Something could not be removed.
        case failed
        /// Taken back before it was delivered.
        case cancelled
        /// Not reported in time (SRV-TG-28), or ended by something else, which `failure` then names.
        case expired

        /// Whether a device may still be told to do it.
        public var isOpen: Bool {
            switch self {
            case .pending, .delivered, .acknowledged: true
            case .succeeded, .failed, .cancelled, .expired: false
            }
        }
    }

    // `heir` is the stored name of the successor's id.
    private enum CodingKeys: String, CodingKey {
        case id, registrationID, account, bundleID, reason, requestedBy, requested, notAfter, attempt, version, state
        case modified, failure, receipt, steps, cause
        case successorID = "heir"
    }

    /// Moves it on.
    mutating func move(to state: State, at now: Date) {
        // What a version before moved on has no times of its first steps; those from here on are known.
        steps = (steps ?? []) + [Step(state: state, time: now)]
        self.state = state
        modified = now
    }

    /// The name that Graph shows (SRV-TG-26, SRV-TG-31).
    public var displayName: String { reason == .conditional ? "Wipe (conditional launch)" : "Wipe" }

    /// Makes an operation.
    public init(
        id: String, registrationID: String, account: AccountID, bundleID: String, reason: Command.Reason,
        requestedBy: String, requested: Date, notAfter: Date, attempt: Int = 1, version: String,
        state: State = .pending
    ) {
        self.id = id
        self.registrationID = registrationID
        self.account = account
        self.bundleID = bundleID
        self.reason = reason
        self.requestedBy = requestedBy
        self.requested = requested
        self.notAfter = notAfter
        self.attempt = attempt
        self.version = version
        self.state = state
        self.modified = requested
        self.failure = nil
        self.receipt = nil
    }
}
