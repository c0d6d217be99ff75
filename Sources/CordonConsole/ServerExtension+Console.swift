public import CordonServiceHTTP

extension ServerExtension {
    /// The console: pages for administrators at `/console`.
    public static func console(_ configuration: ConsoleConfiguration) -> ServerExtension {
        ServerExtension(routes: { parts, router in ConsoleRoutes(parts, configuration).add(to: router) })
    }
}
