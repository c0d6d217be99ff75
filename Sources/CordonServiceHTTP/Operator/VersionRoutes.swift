import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// What policies and filters said before, and which rules an app had when.
struct VersionRoutes: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    func add(to routing: AdministrationRouting) {
        for (kind, collection) in [(EntityVersion.Kind.policy, "policies"), (.filter, "filters")] {
            add(kind, collection, to: routing)
        }
        routing.allowing(.readApps).on("/admin/v1/policies/inForce", method: .get) { request, context in
            let ids = request.uri.queryParameters.getAll("policy").map { String($0) }
            let versions = try await administration.history.versionsInForce(
                ofPolicies: ids, as: context.administrator)
            return try Response(.ok, versions)
        }
        routing.allowing(.readApps).on("/admin/v1/documents", method: .get) { _, context in
            let documents = try await administration.history.present(as: context.administrator)
            return try Response(.ok, documents)
        }
        routing.allowing(.readApps).on("/admin/v1/history", method: .get) { _, context in
            Response(
                lines: try await administration.history.export(as: context.administrator), file: "history.jsonl")
        }
        routing.allowing(.readApps).on("/admin/v1/registrations/:id/rules", method: .get) { request, context in
            let rules = try await administration.history.rules(
                ofRegistration: context.decodedKey("id"), at: try moment(of: request), as: context.administrator)
            return try Response(.ok, rules)
        }
    }

    private func add(_ kind: EntityVersion.Kind, _ collection: String, to routing: AdministrationRouting) {
        let list = "/admin/v1/\(collection)/:id/versions"
        routing.allowing(.readApps).on(RouterPath(list), method: .get) { _, context in
            let versions = try await administration.history.versions(
                of: kind, context.decodedKey("id"), as: context.administrator)
            return try Response(.ok, versions)
        }
        routing.allowing(.readApps).on(RouterPath(list + "/:version"), method: .get) { _, context in
            let version = try await administration.history.version(
                context.decodedKey("version"), of: kind, context.decodedKey("id"), as: context.administrator)
            return try Response(.ok, version)
        }
        routing.allowing(.readApps).on(RouterPath(list + "/:version/place"), method: .get) { _, context in
            let place = try await administration.history.place(
                ofVersion: context.decodedKey("version"), of: kind, context.decodedKey("id"), as: context.administrator)
            return try Response(.ok, place)
        }
        // The earlier of two is in the path, the later one in the query.
        routing.allowing(.readApps).on(RouterPath(list + "/:version/comparison"), method: .get) { request, context in
            guard let other = request.uri.queryParameters["with"] else {
                throw Refusal(.badRequest, "malformed-query", "with names the version to compare with.")
            }
            let comparison = try await administration.history.compareVersions(
                context.decodedKey("version"), String(other), of: kind, context.decodedKey("id"),
                as: context.administrator)
            return try Response(.ok, comparison)
        }
        routing.allowing(.writeApps).on(RouterPath(list + "/:version/putBack"), method: .post) { request, context in
            try await putBack(kind, context.decodedKey("version"), context.decodedKey("id"), request, context)
        }
    }

    /// The answer of putting a version back.
    private struct PutBack: Encodable {
        /// The id, another one where the entity had been removed.
        var id: String
        /// The version that is in force now.
        var version: String?
    }

    private func putBack(
        _ kind: EntityVersion.Kind, _ version: String, _ id: String, _ request: Request,
        _ context: AdministrationContext
    ) async throws -> Response {
        switch kind {
        case .policy:
            let policy = try await administration.history.putBackPolicy(
                id, version: version, ifVersion: EntityTag.expected(by: request), as: context.administrator)
            return try Response(.ok, PutBack(id: policy.id, version: policy.version))
        case .filter:
            let filter = try await administration.history.putBackFilter(id, version: version, as: context.administrator)
            return try Response(.ok, PutBack(id: filter.id, version: nil))
        }
    }

    /// The moment in `?at=`, now where it is absent.
    private func moment(of request: Request) throws -> Date {
        guard let text = request.uri.queryParameters["at"] else { return now() }
        let plain = String(text).replacing(" ", with: "+")
        if let time = try? Date(plain, strategy: .iso8601) { return time }
        guard let time = try? Date(plain, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) else {
            throw Refusal(.badRequest, "malformed-query", "at is a time such as 2026-03-03T09:00:00Z.")
        }
        return time
    }
}
