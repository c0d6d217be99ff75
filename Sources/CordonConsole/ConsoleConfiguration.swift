/// How the console signs people in.
public struct ConsoleConfiguration: Sendable, Equatable {
    /// The path of the console below the service's address.
    public static let path = "/console"
    /// Where the provider sends browsers back to, below the service's address; registered there with the client.
    public static let returnPath = "/console/signed-in"
    /// The client that a development service knows.
    public static let developmentClient = "cordon-console"

    /// The console's client id at the provider.
    public var clientID: String
    /// The client's secret; nil for a public client.
    public var clientSecret: String?
    /// The scopes to ask for. Where one of them names an address, such as `api://…/DeviceManagementApps.ReadWrite.All`, no resource is
    /// named besides (RFC 8707).
    public var scopes = ["openid", "DeviceManagementApps.ReadWrite.All"]

    /// Where alerts are sent, for people to see: the host, without path and secret; nil where they are not sent.
    public var webhookHost: String?

    /// Names the client.
    public init(clientID: String, clientSecret: String? = nil) {
        self.clientID = clientID
        self.clientSecret = clientSecret
    }
}
