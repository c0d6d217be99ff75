import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// The named statuses (SRV-OP-069…073).
struct StatusRoutes: Sendable {
    let administration: Administration

    private static let path = "deviceAppManagement/managedAppStatuses"
    private static let names = [
        "appregistrationsummary": "App registration summary", "userstatus": "User status",
        "userconfigstatus": "User configuration status", "windowsprotectionreport": "Windows protection report",
    ]
    private static let largestFetch = 6_000
    /// How many registrations are read at a time.
    private static let rowsAtOnce = 512

    var routes: [GraphRoute] {
        let path = Self.path
        return [
            GraphRoute(.get, path, .readApps) { _ in .collection(list, of: path) },
            GraphRoute(.get, path + "/$count", .readApps) { _ in .count(list) },
            GraphRoute(.get, path + "/*", .readApps) { exchange in
                let name = exchange.keys[0].lowercased()
                guard let title = Self.names[name] else { throw Refusal.notFound }
                let content =
                    switch name {
                    case "appregistrationsummary": try await summary(exchange)
                    case "windowsprotectionreport": Self.table([], Array(ReportEntity.columns.prefix(4)), next: "")
                    default: try await userStatus(exchange, isConfiguration: name == "userconfigstatus")
                    }
                return .entity(ReportEntity.raw(name, title, content), of: path)
            },
        ]
    }

    private var list: [JSONValue] {
        Self.names.sorted { $0.key < $1.key }.map { name, title in
            [
                "@odata.type": "#microsoft.graph.managedAppStatus", "id": .string(name),
                "displayName": .string(title), "version": "1",
            ]
        }
    }

    /// A page of the summary. It ends behind a whole registration, which its token names: what comes or goes meanwhile neither hides nor
    /// repeats another, and a page reads nothing that stands before it.
    private func summary(_ exchange: GraphExchange) async throws -> [String: JSONValue] {
        let options = exchange.query.custom
        let fetch = try GraphQuery.number("fetch", options, in: 1...Self.largestFetch) ?? Self.largestFetch
        var (last, passed) = try Self.start(options)
        let report: StatusExport =
            try GraphQuery.number("policymode", options, in: 0...1) == 1 ? .configuration : .protection
        let wanted = options["columns"].map { Set($0.lowercased().split(separator: ",").map(String.init)) }
        let columns = ReportEntity.columns.filter { wanted?.contains($0.lowercased()) ?? true }
        var lines: [[JSONValue]] = []
        var shown = ""
        // Read until the page is full.
        repeat {
            try AdministrationDeadline.check()
            let page = try await administration.protectionStatuses(
                after: last, limit: Self.rowsAtOnce, as: exchange.administrator)
            for status in page.rows {
                let policies = report.policies(of: status)
                let rows = (policies.isEmpty ? [nil] : policies.map(Optional.some)).dropFirst(passed)
                passed -= min(passed, max(1, policies.count))
                guard lines.isEmpty || lines.count + rows.count <= fetch else {
                    let next = GraphPlace(id: shown, end: 0, values: []).text
                    return Self.table(lines, columns, next: next)
                }
                lines += rows.map { policy in
                    columns.map { .string(ReportEntity.value($0, of: status, policy: policy)) }
                }
                shown = status.registration.id
            }
            last = page.last
        } while last != nil
        return Self.table(lines, columns, next: "")
    }

    /// Where a page begins: after a registration, as a token says, or after so many rows.
    private static func start(_ options: [String: String]) throws -> (after: String?, rows: Int) {
        guard let seek = options["seek"], !seek.isEmpty, Int(seek) == nil else {
            return (nil, try GraphQuery.number("seek", options, in: 0...Int(Int32.max)) ?? 0)
        }
        return (try GraphPlace(seek).id, 0)
    }

    private func userStatus(
        _ exchange: GraphExchange, isConfiguration: Bool
    ) async throws -> [String: JSONValue] {
        guard let id = exchange.query.custom["userid"], !id.isEmpty else {
            throw Refusal.badRequest("userId: the object id or the sign-in name of a person is needed.")
        }
        let user = try await exchange.directory {
            try await administration.user(id, as: exchange.administrator)
        }
        let report: StatusExport = isConfiguration ? .configuration : .protection
        let statuses = ProtectionStatus.rows(
            try await exchange.registrations(administration, RegistrationFilter(userID: user.id)), users: [user],
            policies: try await exchange.policies(administration))
        let rows = report.rows(statuses).map { row in JSONValue.object(row.mapValues(JSONValue.string)) }
        let checks = try await UserChecks(administration: administration).all(of: user, exchange)
        var content: [String: JSONValue] = [
            "userId": .string(user.id), "displayName": .string(user.displayName),
            "validationStatuses": .array(checks.map(\.json)), "applicationRows": .array(rows),
        ]
        if !isConfiguration { content["applicationStatuses"] = .array(try await appStatuses(of: user, exchange)) }
        content["targetedPolicies"] = .array(try await targeted(to: user, report, exchange))
        content["pendingOperations"] = .array(try await pendingOperations(of: user, exchange))
        content["lastSyncDateTime"] = statuses.map(\.registration.lastSync).max().map(GraphTime.value) ?? .null
        return content
    }

    /// Whether each app has checked in, and is protected (SRV-TG-37).
    private func appStatuses(
        of user: DirectoryUser, _ exchange: GraphExchange
    ) async throws -> [JSONValue] {
        try await administration.appStatuses(ofUser: user.id, as: exchange.administrator).map { status in
            [
                "app": .string(status.bundleID), "checkInStatus": .string(status.checkIn.rawValue),
                "appProtectionStatus": .string(status.protection.rawValue),
                "lastSyncDateTime": status.lastSync.map(GraphTime.value) ?? .null,
            ]
        }
    }

    /// The policies of the report's kind that reach a person (SRV-TG-40).
    private func targeted(
        to user: DirectoryUser, _ report: StatusExport, _ exchange: GraphExchange
    ) async throws -> [JSONValue] {
        try await UserPolicies(administration: administration).all(of: user, exchange)
            .filter { ($0.kind == .targetedManagedAppConfiguration) == (report == .configuration) }
            .map { policy in
                [
                    "id": .string(policy.id), "displayName": policy.document["displayName"] ?? "",
                    "version": .string(policy.version),
                ]
            }
    }

    /// The wipes and commands that are under way for a person's apps (SRV-TG-40).
    private func pendingOperations(
        of user: DirectoryUser, _ exchange: GraphExchange
    ) async throws -> [JSONValue] {
        let (wipes, commands) = try await administration.pendingWork(ofUser: user.id, as: exchange.administrator)
        return wipes.map { wipe in
            Self.pending(wipe.id, "wipe", wipe.state.rawValue, wipe.bundleID, GraphTime.value(wipe.requested))
        }
            + commands.map { command in
                Self.pending(
                    command.id, command.kind.rawValue, command.state.rawValue, command.bundleID,
                    GraphTime.value(command.requested))
            }
    }

    private static func pending(
        _ id: String, _ kind: String, _ state: String, _ app: String, _ requested: JSONValue
    ) -> JSONValue {
        [
            "id": .string(id), "kind": .string(kind), "state": .string(state), "app": .string(app),
            "requestedDateTime": requested,
        ]
    }

    private static func table(_ rows: [[JSONValue]], _ columns: [String], next: String) -> [String: JSONValue] {
        [
            "header": .array(columns.map { ["columnName": .string($0)] }),
            "body": .array(rows.map { ["values": .array($0)] }), "skipToken": .string(next),
        ]
    }
}
