import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Policies and app configurations (§2.4).
struct PolicyRoutes: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    /// Collections that common clients read and that never hold anything here (SRV-RS-109, SRV-RS-116, SRV-OP-050).
    private static let empty = [
        "windowsInformationProtectionPolicies", "mdmWindowsInformationProtectionPolicies",
        "windowsManagedAppProtections", "mobileAppConfigurations",
    ]

    var routes: [GraphRoute] {
        PolicyCollection.all.flatMap { collection in
            routes(of: collection) + actions(of: collection)
                + TargetingRoutes(administration: administration, collection: collection).routes
        } + settings + Self.empty.flatMap(emptyRoutes(of:))
    }

    private func routes(of collection: PolicyCollection) -> [GraphRoute] {
        let path = collection.path
        return [
            GraphRoute(.get, path, .readApps, expands: PolicyCollection.expands) { exchange in
                .page(try await page(collection, exchange), of: path)
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange in
                .number(try await page(collection, exchange).total)
            },
            GraphRoute(.post, path, .writeApps) { exchange in
                try await create(collection, exchange)
            },
            GraphRoute(.get, path + "/*", .readApps, expands: PolicyCollection.expands) { exchange in
                let policy = try await collection.policy(exchange, administration)
                // A summary counts people, whom the policy's version does not tell of.
                if exchange.knows(policy.version), !exchange.query.expand.contains("deploymentsummary") {
                    return .unchanged(version: policy.version)
                }
                let entity = try await expanded([policy], exchange)[0]
                return .entity(entity, of: path, version: policy.version)
            },
            GraphRoute(.patch, path + "/*", .writeApps) { exchange in
                try await update(collection, exchange)
            },
            GraphRoute(.delete, path + "/*", .writeApps) { exchange in
                let policy = try await collection.policy(exchange, administration)
                try await administration.deletePolicy(
                    policy.id, ifVersion: exchange.expectedVersion, as: exchange.administrator)
                return .done
            },
        ]
    }

    private func actions(of collection: PolicyCollection) -> [GraphRoute] {
        let item = collection.path + "/*"
        return [
            GraphRoute(.post, item + "/assign", .writeApps) { exchange in
                let policy = try await collection.policy(exchange, administration)
                guard policy.kind.isAssignable else { throw Refusal.notFound }
                return try await PolicyActions(administration: administration).assign(policy, exchange)
            },
            GraphRoute(.post, item + "/targetApps", .writeApps) { exchange in
                let policy = try await collection.policy(exchange, administration)
                return try await PolicyActions(administration: administration).targetApps(policy, exchange)
            },
            GraphRoute(.get, item + "/deploymentSummary", .readApps) { exchange in
                let policy = try await collection.policy(exchange, administration)
                let summaries = try await administration.deploymentSummaries(
                    ofPolicies: [policy.id], as: exchange.administrator)
                guard let summary = summaries[policy.id] else { throw Refusal.notFound }
                return .entity(
                    ReportEntity.json(summary, of: policy, at: now()),
                    of: "\(collection.path)('\(policy.id)')/deploymentSummary")
            },
            GraphRoute(.post, collection.path + "/hasPayloadLinks", .readApps) { exchange in
                _ = try await exchange.policies(administration, of: collection.kinds)
                guard let ids = try await exchange.object()["payloadIds"]?.array?.map(\.string),
                    ids.count <= PolicyInput.mostApps
                else { throw PolicyInput.refusal("payloadIds", "a list of ids is missing") }
                let links = ids.map { id -> JSONValue in
                    [
                        "@odata.type": "#microsoft.graph.hasPayloadLinkResultItem",
                        "payloadId": .string(id ?? ""), "hasLink": false, "error": .null, "sources": [],
                    ]
                }
                return .value(.array(links), of: "Collection(microsoft.graph.hasPayloadLinkResultItem)")
            },
        ]
    }

    /// The settings-catalogue form, which this service does not have (SRV-RS-112, SRV-OP-049).
    private var settings: [GraphRoute] {
        let kind = PolicyKind.targetedManagedAppConfiguration
        let collection = PolicyCollection(name: kind.collection, kinds: [kind])
        let path = collection.path + "/*"
        return [
            GraphRoute(.get, path + "/settings", .readApps) { exchange in
                _ = try await collection.policy(exchange, administration)
                return .collection([], of: "settings")
            },
            GraphRoute(.get, path + "/settings/$count", .readApps) { exchange in
                _ = try await collection.policy(exchange, administration)
                return .count([])
            },
            GraphRoute(.post, path + "/settings", .writeApps) { _ in
                throw Refusal.notImplemented("Settings of a configuration are its customSettings here.")
            },
            GraphRoute(.post, path + "/changeSettings", .writeApps) { _ in
                throw Refusal.notImplemented("Settings of a configuration are its customSettings here.")
            },
        ]
    }

    private func emptyRoutes(of name: String) -> [GraphRoute] {
        let path = "deviceAppManagement/\(name)"
        return [
            GraphRoute(.get, path, .readApps, expands: ["apps", "assignments"]) { _ in .collection([], of: path) },
            GraphRoute(.get, path + "/$count", .readApps) { _ in .count([]) },
            GraphRoute(.post, path, .writeApps) { _ in
                throw Refusal.notImplemented("This service keeps no \(name).")
            },
        ]
    }

    /// A page of policies: cut first, so that registrations are counted for the policies of the page alone.
    private func page(
        _ collection: PolicyCollection, _ exchange: GraphExchange
    ) async throws -> GraphPage {
        let query = exchange.query
        guard !query.members.contains("deploymentsummary") else {
            throw Refusal.badRequest("A deploymentSummary is told for each page; the query cannot look at it.")
        }
        let all = try await exchange.policies(administration, of: collection.kinds)
        let cut = try GraphCut(all, query: query, id: \.id) { exchange.json($0) }
        return GraphPage(try await expanded(cut.records, exchange), of: cut, query: query)
    }

    /// Policies with what `$expand` asks for.
    private func expanded(
        _ policies: [ManagedAppPolicy], _ exchange: GraphExchange
    ) async throws -> [JSONValue] {
        guard exchange.query.expand.contains("deploymentsummary"), !policies.isEmpty else {
            return policies.map { exchange.json($0) }
        }
        let summaries = try await administration.deploymentSummaries(
            ofPolicies: Set(policies.map(\.id)), as: exchange.administrator)
        return policies.map { policy in
            var members = exchange.json(policy).object ?? [:]
            members["deploymentSummary"] = summaries[policy.id].map { ReportEntity.json($0, of: policy, at: now()) }
            return .object(members)
        }
    }

    private func create(
        _ collection: PolicyCollection, _ exchange: GraphExchange
    ) async throws -> GraphAnswer {
        let document = try await exchange.object()
        let kind = try PolicyInput.kind(of: document, among: collection.kinds)
        try exchange.checkSpelling(ofPolicy: document, kind)
        let policy = try await administration.createPolicy(
            kind, document: .object(document), as: exchange.administrator)
        return exchange.applyingPreference(
            .created(exchange.json(policy), of: collection.path, version: policy.version))
    }

    private func update(
        _ collection: PolicyCollection, _ exchange: GraphExchange
    ) async throws -> GraphAnswer {
        let before = try await collection.policy(exchange, administration)
        let changes = try await exchange.object()
        _ = try PolicyInput.kind(of: changes, among: [before.kind])
        try exchange.checkSpelling(ofPolicy: changes, before.kind, except: before.document.object ?? [:])
        let policy = try await PolicyActions(administration: administration).writing(
            changes["assignments"], of: before, exchange
        ) { assignments, version in
            var changes = changes
            changes["assignments"] = assignments
            return try await administration.updatePolicy(
                before.id, changes: .object(changes), ifVersion: version, as: exchange.administrator)
        }
        // Nothing but 204 counts as success for common clients, unless they ask for more (SRV-OP-007).
        guard exchange.prefersRepresentation else { return exchange.applyingPreference(.done) }
        return exchange.applyingPreference(
            .changed(exchange.json(policy), of: collection.path, version: policy.version))
    }
}

/// The actions that replace whom and what a policy is about, from wherever they are called (SRV-OP-052).
struct PolicyActions: Sendable {
    let administration: Administration

    func assign(_ policy: ManagedAppPolicy, _ exchange: GraphExchange) async throws -> GraphAnswer {
        let body = try await exchange.object()
        try exchange.checkSpelling(ofAssignments: body["assignments"])
        _ = try await writing(body["assignments"], of: policy, exchange) { assignments, version in
            try await administration.assignPolicy(
                policy.id, to: try PolicyInput.assignments(assignments), ifVersion: version, as: exchange.administrator)
        }
        return exchange.applyingPreference(.done)
    }

    /// Writes assignments as a client gave them, each with the filter that it keeps: on the version that these filters were read in.
    func writing(
        _ assignments: JSONValue?, of policy: ManagedAppPolicy, _ exchange: GraphExchange,
        _ write: (_ assignments: JSONValue?, _ version: String?) async throws -> ManagedAppPolicy
    ) async throws -> ManagedAppPolicy {
        guard let assignments, exchange.version == .v1 else {
            return try await write(assignments, exchange.expectedVersion)
        }
        return try await exchange.rewriting(policy.id) {
            let policy = try await administration.policy(policy.id, as: exchange.administrator)
            let kept = PolicyEntity(policy: policy, version: exchange.version).keepingFilters(in: assignments)
            return try await write(kept, exchange.expectedVersion ?? policy.version)
        }
    }

    func targetApps(_ policy: ManagedAppPolicy, _ exchange: GraphExchange) async throws -> GraphAnswer {
        let body = try await exchange.object()
        try exchange.checkSpelling(of: body, among: ["apps", "appGroupType"])
        let (apps, group) = try PolicyInput.apps(body)
        _ = try await administration.targetApps(
            apps, group: group, ofPolicy: policy.id, ifVersion: exchange.expectedVersion, as: exchange.administrator)
        return exchange.applyingPreference(.done)
    }
}
