/// Which audit records to read.
public struct AuditQuery: Sendable, Equatable {
    /// The most records that one page holds.
    public static let largestPage = 1000

    /// Only records after this sequence number; 0 for the beginning.
    public var after: Int64
    /// Only records before this sequence number, the newest first; nil for oldest first.
    public var before: Int64?
    /// How many at most, from 1 to ``largestPage``.
    public var limit: Int
    /// Only this action, nil for all.
    public var action: String?
    /// Only this target, nil for all.
    public var target: String?

    /// Makes a query.
    public init(
        after: Int64 = 0, before: Int64? = nil, limit: Int = 100, action: String? = nil, target: String? = nil
    ) {
        self.after = after
        self.before = before
        self.limit = limit
        self.action = action
        self.target = target
    }
}
