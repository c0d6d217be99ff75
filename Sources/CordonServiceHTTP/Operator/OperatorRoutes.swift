import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// What operators and their systems use beside Graph: working time, settings, keys, logs, telemetry, and the rights of
/// people whose data it is (SRV-CI-026, SRV-CI-084, SRV-CI-095).
struct OperatorRoutes: Sendable {
    let administration: Administration
    let provisioning: Provisioning
    let now: @Sendable () -> Date

    func add(to routing: AdministrationRouting) {
        addPeople(to: routing)
        addSettings(to: routing)
        addKeys(to: routing)
        addLogs(to: routing)
    }

    private func addPeople(to routing: AdministrationRouting) {
        let time: RouterPath = "/admin/v1/users/:id/workingTime"
        routing.allowing(.readApps).on(time, method: .get) { request, context in
            let id = context.decodedKey("id")
            let time = try await administration.workingTime(ofUser: id, as: context.administrator)
            guard let time else { throw Refusal(.notFound, "not-found", "No working time is known.") }
            return try Response(.ok, WorkingTimeMessage(time))
        }
        routing.allowing(.writeApps).on(time, method: .put) { request, context in
            let id = context.decodedKey("id")
            let time = try await Self.read(WorkingTimeMessage.self, request).time
            try await provisioning.setWorkingTime(time, ofUser: id, as: context.administrator)
            return Response(status: .noContent)
        }
        let data: RouterPath = "/admin/v1/users/:id/data"
        routing.allowing(.readDirectory, stepsUp: true).on(data, method: .get) { request, context in
            let id = context.decodedKey("id")
            let data = try await administration.personalData.exportUser(id, as: context.administrator)
            return try Response(.ok, data)
        }
        routing.allowing(.writeApps, stepsUp: true).on(data, method: .delete) { request, context in
            let id = context.decodedKey("id")
            let wipesFirst = try Self.wipesFirst(request)
            let wipes = try await administration.personalData.eraseUser(
                id, wipingFirst: wipesFirst, as: context.administrator)
            guard !wipes.isEmpty else { return Response(status: .noContent) }
            return try Response(.accepted, ErasureMessage(wipes: wipes.map(\.id)))
        }
    }

    /// Whether `?wipe=true` asks for wipes before anything is erased.
    private static func wipesFirst(_ request: Request) throws -> Bool {
        switch request.uri.queryParameters["wipe"] {
        case nil, "false": false
        case "true": true
        default: throw Refusal(.badRequest, "malformed-query", "wipe is true or false.")
        }
    }

    private func addSettings(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/settings", method: .get) { _, context in
            let settings = try await administration.serviceSettings(as: context.administrator)
            return try Response(.ok, settings)
        }
        routing.allowing(.writeApps, stepsUp: true).on("/admin/v1/settings", method: .put) { request, context in
            let settings = try await Self.read(ServiceSettings.self, request)
            try await administration.setServiceSettings(settings, as: context.administrator)
            return Response(status: .noContent)
        }
        routing.allowing(.readApps).on("/admin/v1/telemetry", method: .get) { _, context in
            let days = try await administration.telemetry(as: context.administrator)
            return try Response(.ok, days)
        }
    }

    private func addKeys(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/keys", method: .get) { _, context in
            let keys = try await administration.signingKeys(as: context.administrator)
            return try Response(.ok, keys.map(SigningKeyMessage.init))
        }
        routing.allowing(.writeApps, stepsUp: true).on("/admin/v1/keys", method: .post) { request, context in
            let message = try await Self.read(KeyRotationMessage.self, request)
            guard message.isEmergency != true || message.activeFrom == nil else {
                throw Refusal(
                    .badRequest, "malformed-body", "A key for one that leaked signs at once, so activeFrom is left out."
                )
            }
            if message.role == .audit {
                guard message.activeFrom == nil else {
                    throw Refusal(.badRequest, "malformed-body", "An audit key signs at once; leave activeFrom out.")
                }
                let key = try await administration.rotateAuditKey(
                    hasLeaked: message.isEmergency == true, as: context.administrator)
                return try Response(.created, SigningKeyMessage(key))
            }
            guard message.role ?? .envelope == .envelope else {
                throw Refusal(.badRequest, "malformed-body", "The root key is never changed.")
            }
            let earliest = now().addingTimeInterval(message.isEmergency == true ? 0 : KeyRotationMessage.usualNotice)
            let start = max(message.activeFrom ?? earliest, earliest)
            let key = try await administration.rotateSigningKey(activeFrom: start, as: context.administrator)
            return try Response(.created, SigningKeyMessage(key))
        }
    }

    private func addLogs(to routing: AdministrationRouting) {
        routing.allowing(.writeApps).on("/admin/v1/registrations/:id/logs", method: .post) { request, context in
            let id = context.decodedKey("id")
            let collection = try await administration.requestLogs(ofRegistration: id, as: context.administrator)
            return try Response(.accepted, collection)
        }
        routing.allowing(.readApps).on("/admin/v1/logs", method: .get) { request, context in
            try await Response.page(of: "/admin/v1/logs", request) { after, limit in
                try await administration.logCollections(
                    after: after, limit: limit ?? Administration.largestPage, as: context.administrator)
            }
        }
        routing.allowing(.readApps).on("/admin/v1/logs/:id", method: .get) { request, context in
            let id = context.decodedKey("id")
            let bytes = try await administration.logs(id, as: context.administrator)
            return Response(.ok, "application/octet-stream", bytes)
        }
    }

    private static func read<Message: Decodable>(
        _ type: Message.Type, _ request: Request
    ) async throws -> Message {
        try await RequestBodyReader.message(
            type, of: request, atMost: AdministrationRouting.largestBody, isStrict: true)
    }
}
