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
        /// How many groups it brings.
        var groupCount: Int
        /// The folded ids of the groups that it brings, ordered; of those that were asked about, where some were.
        var groups: [String]

        init(_ source: DirectorySourceSummary, among asked: Set<String>) {
            name = source.name
            people = source.people
            groupCount = source.groups.count
            groups = (asked.isEmpty ? source.groups : source.groups.intersection(asked)).sorted()
        }
    }

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/people", method: .get) { request, context in
            try Response(.ok, try await page(of: request, context.administrator))
        }
        routing.allowing(.readApps).on("/admin/v1/directory/sources", method: .get) { request, context in
            let asked = Set(request.uri.queryParameters.getAll("group").map { $0.lowercased() })
            let sources = try await administration.directorySources(as: context.administrator)
            return try Response(.ok, sources.map { Source($0, among: asked) })
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
