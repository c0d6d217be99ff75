import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Collections of one small kind of thing: list, count, read, and where it is kept here, write (§2.6).
struct ResourceRoutes<Resource: AdministeredResource>: Sendable {
    let administration: Administration
    let path: String
    let reading: AdministrationAccess
    /// What is there besides the stored ones.
    var builtIn: [Resource] = []
    /// The members that a body is read for; one that is nearly called so is refused.
    let members: [String]
    let json: @Sendable (Resource) -> JSONValue
    /// The resource that a body describes; changes to one where that is given.
    let read: @Sendable ([String: JSONValue], Resource?) throws -> Resource

    var routes: [GraphRoute] {
        [
            GraphRoute(.get, path, reading) { exchange in
                .collection(try await all(exchange).map(json), of: path)
            },
            GraphRoute(.get, path + "/$count", reading) { exchange in
                .count(try await all(exchange).map(json))
            },
            GraphRoute(.post, path, .writeApps) { exchange in
                let resource = try read(try await body(exchange), nil)
                try await administration.saveResource(resource, isNew: true, as: exchange.administrator)
                return exchange.applyingPreference(
                    .created(json(resource), of: path, version: resource.entityVersion))
            },
            GraphRoute(.get, path + "/*", reading) { exchange in
                let resource = try await one(exchange)
                return .entity(json(resource), of: path, version: resource.entityVersion)
            },
            GraphRoute(.patch, path + "/*", .writeApps) { exchange in
                try await merge(try await body(exchange), exchange)
                return exchange.applyingPreference(.done)
            },
            GraphRoute(.delete, path + "/*", .writeApps) { exchange in
                let known = try await one(exchange)
                try await administration.removeResource(
                    Resource.self, known.id, ifVersion: exchange.expectedVersion, as: exchange.administrator)
                return .done
            },
        ]
    }

    private func body(_ exchange: GraphExchange) async throws -> [String: JSONValue] {
        let body = try await exchange.object()
        try exchange.checkSpelling(of: body, among: members)
        return body
    }

    private func all(_ exchange: GraphExchange) async throws -> [Resource] {
        let stored = try await administration.resources(Resource.self, as: exchange.administrator)
        return builtIn + stored
    }

    private func one(_ exchange: GraphExchange) async throws -> Resource {
        let id = exchange.keys[0]
        guard let found = try await all(exchange).first(where: { $0.id.lowercased() == id.lowercased() }) else {
            throw Refusal.notFound
        }
        return found
    }

    /// Merges changes into what is there; where another change came in between, into what that made.
    private func merge(_ changes: [String: JSONValue], _ exchange: GraphExchange) async throws {
        try await exchange.rewriting(exchange.keys[0]) {
            let known = try await one(exchange)
            try await administration.replaceResource(
                known, with: try read(changes, known), ifVersion: exchange.expectedVersion, as: exchange.administrator)
        }
    }
}
