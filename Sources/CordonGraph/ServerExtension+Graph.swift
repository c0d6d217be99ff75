public import CordonServiceHTTP

extension ServerExtension {
    /// The administration API in the shape of Microsoft Graph, below `/v1.0` and `/beta`.
    public static let graph = ServerExtension { GraphRoutes($0) }
}
