import CordonService
import HTTPTypes
import Hummingbird

/// How people stand: some of them by their ids, or those in a state (SRV-UI-13, SRV-UI-18).
struct PeopleRoutes: Sendable {
    let administration: Administration

    /// A page of people, and the id after which to go on; none at the end.
    private struct Page: Encodable {
        var people: [PersonProtection]
        var next: String?
    }

    private static let usualPage = 50

    /// What the directory is synchronised from.
    private struct Source: Encodable {
        var name: String
        /// How many people it brings.
        var people: Int
        /// The folded ids of the groups that it brings, ordered.
        var groups: [String]
    }

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/people", method: .get) { request, context in
            try Response(.ok, try await page(of: request, context.administrator))
        }
        routing.allowing(.readApps).on("/admin/v1/directory/sources", method: .get) { _, context in
            let sources = try await administration.directorySources(as: context.administrator)
            return try Response(
                .ok, sources.map { Source(name: $0.name, people: $0.people.count, groups: $0.groups.sorted()) })
        }
    }

    private func page(of request: Request, _ administrator: Administrator) async throws -> Page {
        let query = request.uri.queryParameters
        guard let name = query["state"] else {
            let ids = query.getAll("user").map { String($0) }
            return Page(people: try await administration.protection(ofUsers: ids, as: administrator))
        }
        guard let state = PeopleState(rawValue: String(name)) else {
            let known = PeopleState.allCases.map(\.rawValue).joined(separator: " or ")
            throw Refusal(.badRequest, "malformed-query", "state is \(known).")
        }
        let after = query["after"].map { String($0) }
        let limit = query["top"].flatMap { Int($0) } ?? Self.usualPage
        let (people, next) = try await administration.people(state, after: after, limit: limit, as: administrator)
        return Page(people: people, next: next)
    }
}
