import CordonServiceHTTP
import HTTPTypes

/// One route of the Graph-shaped side.
struct GraphRoute: Sendable {
    typealias Handler = @Sendable (GraphExchange) async throws -> GraphAnswer

    let method: HTTPRequest.Method
    /// Names in their canonical spelling, `*` for a key.
    let pattern: [String]
    let access: AdministrationAccess
    /// Whether people must have signed in a short while ago, because what is asked cannot be taken back.
    let stepsUp: Bool
    /// The navigation members that `$expand` may name, in lower case.
    let expands: Set<String>
    let handler: Handler

    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: AdministrationAccess, expands: Set<String> = [],
        stepsUp: Bool = false,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.pattern = path.split(separator: "/").map(String.init)
        self.access = access
        self.stepsUp = stepsUp
        self.expands = Set(expands.map { $0.lowercased() })
        self.handler = handler
    }

    /// How logs name the route: never with a key in it.
    var name: String { pattern.joined(separator: "/") }
}
