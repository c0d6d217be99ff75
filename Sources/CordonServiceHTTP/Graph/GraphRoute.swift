import HTTPTypes

/// One route of the Graph-shaped side.
struct GraphRoute: Sendable {
    typealias Handler = @Sendable (GraphExchange) async throws(GraphRefusal) -> GraphAnswer

    let method: HTTPRequest.Method
    /// Names in their canonical spelling, `*` for a key.
    let pattern: [String]
    let access: AdministrationAccess
    let handler: Handler

    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: AdministrationAccess, _ handler: @escaping Handler
    ) {
        self.method = method
        self.pattern = path.split(separator: "/").map(String.init)
        self.access = access
        self.handler = handler
    }

    /// How logs name the route: never with a key in it.
    var name: String { pattern.joined(separator: "/") }
}
