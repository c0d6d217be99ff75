/// A host and a port to listen on.
public struct ListeningAddress: Sendable, Equatable {
    /// The address or name, IPv6 without brackets.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: Int

    /// Makes an address.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
