import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import HTTPTypes

/// What app protection has to say of one person (SRV-OP-064…066).
struct UserRoutes: Sendable {
    let administration: Administration

    var routes: [GraphRoute] {
        [
            GraphRoute(.get, "users/*/getManagedAppPolicies", .readApps, expands: PolicyCollection.expands) {
                exchange in
                let user = try await exchange.user(administration)
                let policies = try await UserPolicies(administration: administration).all(of: user, exchange)
                return .collection(policies.map { exchange.json($0) }, of: "deviceAppManagement/managedAppPolicies")
            },
            GraphRoute(.get, "users/*/getManagedAppDiagnosticStatuses", .readApps) { exchange in
                let user = try await exchange.user(administration)
                let checks = try await UserChecks(administration: administration).all(of: user, exchange)
                return .collection(
                    checks.map(\.json), of: "Collection(microsoft.graph.managedAppDiagnosticStatus)")
            },
            GraphRoute(.get, "users/*/exportDeviceAndAppManagementData", .readApps, stepsUp: true) { exchange in
                let id = exchange.keys[0]
                return .entity(try await export(of: id, exchange), of: "users('\(id)')")
            },
        ]
    }

    /// Everything that is kept about a person (SRV-CI-095), as the operator's own route has it: with the same permission,
    /// the same fresh sign-in and the same record in the audit log.
    private func export(of id: String, _ exchange: GraphExchange) async throws -> JSONValue {
        let options = exchange.query.custom
        let skip = try GraphQuery.number("skip", options, in: 0...Int(Int32.max)) ?? 0
        let top = try GraphQuery.number("top", options, in: 0...Int(Int32.max))
        let data = try await exchange.directory {
            try await administration.personalData.exportUser(id, as: exchange.administrator)
        }
        let sections: [(String, [JSONValue])] = [
            ("User", data.user.map { [DirectoryEntity.json($0)] } ?? []), ("Groups", data.groups.map(Self.reference)),
            ("App registrations", data.registrations.map { RegistrationEntity.json($0, version: .beta) }),
            ("Wipes", data.operations.map(OperationEntity.json)),
            ("Commands", try documents(data.commands)),
            ("Working time", try documents([data.workingTime].compactMap(\.self))),
            ("Block", try documents([data.block].compactMap(\.self))), ("Telemetry", try documents(data.telemetry)),
            ("Logs", try documents(data.logs)), ("Shared devices", data.sharedDevices.map(Self.reference)),
            ("Allowed account", try documents([data.allowedAccount].compactMap(\.self))),
            ("Directory sources", data.sources.map(Self.reference)),
            ("Revoked sessions", try documents([data.revocation].compactMap(\.self))),
            ("Alerts", try documents(data.alerts)), ("Waiting changes", try documents(data.waitingChanges)),
            ("Deliveries", try documents(data.deliveries)),
            ("Report filters", try documents(data.reportFilters)),
        ]
        let content = sections.dropFirst(skip).prefix(top ?? sections.count).map { name, data -> JSONValue in
            ["displayName": .string(name), "data": .array(data)]
        }
        return ["content": .array(content)]
    }

    private static func reference(_ id: String) -> JSONValue { ["id": .string(id)] }

    private func documents(_ values: [some Encodable]) throws -> [JSONValue] {
        do {
            return try values.map { try JSONValue(parsing: MessageCoding.encode($0)) }
        } catch {
            throw ServiceError(.internalError, "what is kept has no JSON form")
        }
    }
}
