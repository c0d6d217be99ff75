internal import CordonBase

/// What one client, one program, or all of one user's can make the broker spend (SI-195).
public struct BrokerLimits: Sendable, Equatable {
    /// Connections of listed programs in all, beyond those that each has for itself.
    public var connections = 1_024
    /// Connections of one user's listed programs, beyond those that each has for itself.
    public var connectionsPerUser = 512
    /// Connections that a listed program may always have, whatever others hold.
    public var reservedPerProgram = 8
    /// Connections of all programs that are not on the list; each is told that it is refused, and then closed.
    public var strangers = 32
    /// Connections that one user's programs that are not on the list may make per second.
    public var strangersPerSecond = 10
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
    /// Connections that a user's program of the list may make at once; more are closed unanswered.
    public var connectsAtOnce = 512
    /// Connections that a user's program of the list may make per second from then on.
    public var connectsPerSecond = 100
    /// How long a new connection may take for its `hello`.
    public var greetingTime: Duration = .seconds(5)
    /// How long a frame may take from its first byte to its last.
    public var frameTime: Duration = .seconds(5)
    /// How long a client may leave more than 64 KiB of answers unread.
    public var unreadTime: Duration = .seconds(5)
    /// Unread bytes at which a client is dropped at once.
    public var unreadBytes = 2 << 20

    /// The usual limits.
    public init() {}

    /// A connection takes one descriptor, and the process that made it another, by which the broker knows it.
    private static let filesPerConnection = 2
    /// What state, keys, other programs' files and questions to the provider need besides connections.
    private static let otherFiles = 128
    /// For so many programs the places that are their own are kept free of others.
    private static let programs = 16

    /// What is kept free: of programs that are not on the list, and of those that each program has for itself.
    private var kept: Int { strangers + reservedPerProgram * Self.programs }

    /// The open files that these limits take.
    package var files: Int { (connections + kept) * Self.filesPerConnection + Self.otherFiles }

    /// The limits with no more connections than the process has files for: without a descriptor left no app could connect, and
    /// none that did could be told from another.
    var fittingOpenFiles: BrokerLimits {
        fitting(OpenFileLimit.connections(each: Self.filesPerConnection, beside: Self.otherFiles))
    }

    /// The limits for so many connections in all.
    func fitting(_ most: Int) -> BrokerLimits {
        var limits = self
        limits.connections = max(0, min(connections, most - kept))
        return limits
    }
}
