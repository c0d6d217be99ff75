public import Foundation

/// Where the demo's console is, and who may sign in to it.
public struct DemoConsole: Sendable {
    /// Its address.
    public let address: URL
    /// A link that opens it signed in, for the first browser that comes with it.
    public let link: URL
    /// The administrator's sign-in name.
    public let name: String
    /// Their password, which is worth nothing outside the demo.
    public let password: String
}
