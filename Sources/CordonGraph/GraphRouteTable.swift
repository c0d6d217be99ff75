import HTTPTypes

/// The Graph-shaped routes, found by a path's names.
struct GraphRouteTable: Sendable {
    /// Every route, in the order of its definition.
    let routes: [GraphRoute]
    private let byShape: [Shape: [(pattern: [String], route: GraphRoute)]]

    /// What all paths of a route have in common: how long they are and how they begin.
    private struct Shape: Hashable {
        var length: Int
        var first: String
    }

    init(_ routes: [GraphRoute]) {
        self.routes = routes
        byShape = Dictionary(grouping: routes.map { ($0.pattern.map { $0.lowercased() }, $0) }) { pattern, _ in
            Shape(length: pattern.count, first: pattern.first ?? "")
        }
    }

    /// The routes that a path belongs to, one for each method, with what stands for `*`.
    func routes(at path: GraphPath) -> [(route: GraphRoute, keys: [String])] {
        let candidates = byShape[Shape(length: path.parts.count, first: path.folded.first ?? "")] ?? []
        return candidates.compactMap { pattern, route in path.matches(pattern).map { (route, $0) } }
    }
}
