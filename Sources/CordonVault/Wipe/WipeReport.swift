public import CordonIdentity
public import Foundation

/// What a wipe destroyed. The vault makes the report; the caller signs it into a receipt.
public struct WipeReport: Sendable, Codable, Equatable {
    /// How one step ended.
    public struct StepResult: Sendable, Codable, Equatable {
        /// The step's kind, or the attachment's name.
        public var name: String
        /// Why it failed, without file names; nil after success.
        public var failure: String?
    }

    /// Whose data.
    public var account: AccountID
    /// The ids of the keys that were destroyed, hexadecimal.
    public var destroyedKeyIDs: [String] = []
    /// Sealed and noted files removed, databases and their journals among them.
    public var files = 0
    /// Databases among the files.
    public var databases = 0
    /// Files removed from the account's caches.
    public var caches = 0
    /// Files removed from the account's temporary directory.
    public var temporaryFiles = 0
    /// Files removed for attachments.
    public var attachedFiles = 0
    /// Bytes on disk of everything removed.
    public var bytes: Int64 = 0
    /// When the wipe began, by the vault's clock.
    public var started: Date
    /// When it ended, by the vault's clock; nil while it runs.
    public var finished: Date?
    /// How each step ended, in order.
    public var steps: [StepResult] = []

    /// Why steps failed, without file names; empty after success.
    public var failures: [String] { steps.compactMap { step in step.failure.map { "\(step.name): \($0)" } } }
    /// Whether everything was removed.
    public var succeeded: Bool { finished != nil && failures.isEmpty }
}

/// A wipe that has begun and is not finished.
public struct PendingWipe: Sendable, Equatable {
    /// Whose data.
    public let account: AccountID
    /// When it began; nil when it was interrupted before it noted the time.
    public let started: Date?
}
