/// What the event stream of one registration tells: only that something changed, so that the app checks in.
///
/// It carries no rule and no command; those travel signed, in the envelope.
public struct ServiceEvent: Sendable, Codable, Equatable {
    /// Rises with every event of the registration; the `Last-Event-ID` to resume after.
    public var id: Int64
    /// What changed.
    public var kind: Kind

    /// What can have changed.
    public enum Kind: String, Sendable, Codable {
        /// A policy, configuration or assignment that bears on this registration.
        case policyChanged
        /// A command waits.
        case commandWaiting
    }

    /// Makes an event.
    public init(id: Int64, kind: Kind) {
        self.id = id
        self.kind = kind
    }
}
