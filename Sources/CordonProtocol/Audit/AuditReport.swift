public import CordonIdentity

/// What an offline check of an exported audit log found.
public struct AuditReport: Sendable, Codable, Equatable {
    /// The organisation, nil when not one record was readable.
    public var tenant: TenantID?
    /// How many records were read.
    public var records: Int
    /// How many receipts of wipes were checked and found good.
    public var receipts: Int
    /// The checkpoint at the end, nil when there is none or its signature does not match.
    public var checkpoint: AuditCheckpoint?
    /// The thumbprint of the root key that vouches for the checkpoint's key.
    public var rootKeyThumbprint: String?
    /// Whether that thumbprint was the one asked for; without a pin, a stranger may have signed everything.
    public var isPinned: Bool
    /// What is wrong, in the order of lines; empty for a sound log. No more than ``AuditLogVerifier/largestReport``.
    public var faults: [AuditFault]

    /// Whether nothing is wrong.
    public var isSound: Bool { faults.isEmpty }
}

/// One thing that is wrong with an exported audit log.
public struct AuditFault: Sendable, Codable, Equatable {
    /// What can be wrong.
    public enum Code: String, Sendable, Codable, CaseIterable {
        /// A line is no audit record in canonical form.
        case unreadable
        /// A record's hash is not that of its content: it was edited.
        case edited
        /// A record does not follow the one before: something was removed, added or moved.
        case broken
        /// A record is of another organisation.
        case foreign
        /// The log does not end in a checkpoint.
        case unsealed
        /// The checkpoint or its keys are not properly signed, or not by the pinned root.
        case wrongSeal
        /// The log does not end where its checkpoint says, or ends before a checkpoint that was made earlier.
        case truncated
        /// The log differs from what an earlier checkpoint says.
        case forked
        /// A wipe's receipt is missing or false.
        case wrongReceipt
    }

    /// What is wrong.
    public var code: Code
    /// The line, from 1; 0 for the log as a whole.
    public var line: Int
    /// One sentence.
    public var reason: String
}
