/// What one client, or all of one user's, can make the broker spend (SI-195).
public struct BrokerLimits: Sendable, Equatable {
    /// Connections in all.
    public var connections = 1_024
    /// Connections of one user.
    public var connectionsPerUser = 512
    /// Requests of one connection at a time; more are not read meanwhile.
    public var requestsAtOnce = 32
    /// Requests of one connection before it is slowed down.
    public var burst = 200
    /// Requests of one connection per second from then on.
    public var perSecond = 2_000
    /// Requests of all connections of one program before they are slowed down.
    public var programBurst = 400
    /// Requests of all connections of one program per second from then on.
    public var programPerSecond = 5_000
    /// Connections that a user may make at once; more are closed unanswered.
    public var connectsAtOnce = 512
    /// Connections that a user may make per second from then on.
    public var connectsPerSecond = 100
    /// How long a new connection may take for its `hello`.
    public var greetingTime: Duration = .seconds(5)
    /// How long a frame may take from its first byte to its last.
    public var frameTime: Duration = .seconds(5)
    /// How long a client may leave answers unread.
    public var unreadTime: Duration = .seconds(5)
    /// Unread bytes at which a client is dropped at once.
    public var unreadBytes = 2 << 20

    /// The usual limits.
    public init() {}
}
