import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// What operators and their systems use beside Graph: working time, settings, keys, logs, telemetry, and the rights of
/// people whose data it is (SRV-CI-026, SRV-CI-084, SRV-CI-095).
struct OperatorRoutes: Sendable {
    let routing: AdministrationRouting
    let administration: Administration
    let provisioning: Provisioning
    let now: @Sendable () -> Date

    func add(to router: some RouterMethods<BasicRequestContext>) {
        addPeople(to: router)
        addSettings(to: router)
        addKeys(to: router)
        addLogs(to: router)
    }

    private func addPeople(to router: some RouterMethods<BasicRequestContext>) {
        let time = "/admin/v1/users/:id/workingTime"
        routing.on(router, .get, time, .readApps) { exchange, administrator throws(CheckInRefusal) in
            let id = Self.id(exchange)
            let time = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.workingTime(ofUser: id, as: administrator)
            }
            guard let time else { throw CheckInRefusal("not-found", "No working time is known.", status: 404) }
            return try CheckInRefusal.answering(.ok, WorkingTimeMessage(time))
        }
        routing.on(router, .put, time, .writeApps) { exchange, administrator throws(CheckInRefusal) in
            let id = Self.id(exchange)
            let time = try await Self.read(WorkingTimeMessage.self, exchange).time
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await provisioning.setWorkingTime(time, ofUser: id, as: administrator)
            }
            return Response(status: .noContent)
        }
        let data = "/admin/v1/users/:id/data"
        routing.on(router, .get, data, .readDirectory) { exchange, administrator throws(CheckInRefusal) in
            let id = Self.id(exchange)
            let data = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.exportUser(id, as: administrator)
            }
            return try CheckInRefusal.answering(.ok, data)
        }
        routing.on(router, .delete, data, .writeApps, stepsUp: true) { exchange, administrator throws(CheckInRefusal) in
            let id = Self.id(exchange)
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.eraseUser(id, as: administrator)
            }
            return Response(status: .noContent)
        }
    }

    private func addSettings(to router: some RouterMethods<BasicRequestContext>) {
        routing.on(router, .get, "/admin/v1/settings", .readApps) { _, administrator throws(CheckInRefusal) in
            let settings = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.serviceSettings(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, settings)
        }
        routing.on(router, .put, "/admin/v1/settings", .writeApps) { exchange, administrator throws(CheckInRefusal) in
            let settings = try await Self.read(ServiceSettings.self, exchange)
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.setServiceSettings(settings, as: administrator)
            }
            return Response(status: .noContent)
        }
        routing.on(router, .get, "/admin/v1/telemetry", .readApps) { _, administrator throws(CheckInRefusal) in
            let days = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.telemetry(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, days)
        }
    }

    private func addKeys(to router: some RouterMethods<BasicRequestContext>) {
        routing.on(router, .get, "/admin/v1/keys", .readApps) { _, administrator throws(CheckInRefusal) in
            let keys = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.signingKeys(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, keys.map(SigningKeyMessage.init))
        }
        routing.on(router, .post, "/admin/v1/keys", .writeApps) { exchange, administrator throws(CheckInRefusal) in
            let message = try await Self.read(KeyRotationMessage.self, exchange)
            let earliest = now().addingTimeInterval(message.isEmergency == true ? 0 : KeyRotationMessage.usualNotice)
            let start = max(message.activeFrom ?? earliest, earliest)
            let key = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.rotateSigningKey(activeFrom: start, as: administrator)
            }
            return try CheckInRefusal.answering(.created, SigningKeyMessage(key))
        }
    }

    private func addLogs(to router: some RouterMethods<BasicRequestContext>) {
        routing.on(router, .post, "/admin/v1/registrations/:id/logs", .writeApps) {
            exchange, administrator throws(CheckInRefusal) in
            let id = Self.id(exchange)
            let collection = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.requestLogs(ofRegistration: id, as: administrator)
            }
            return try CheckInRefusal.answering(.accepted, collection)
        }
        routing.on(router, .get, "/admin/v1/logs", .readApps) { _, administrator throws(CheckInRefusal) in
            let collections = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.logCollections(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, collections)
        }
        routing.on(router, .get, "/admin/v1/logs/:id", .readApps) { exchange, administrator throws(CheckInRefusal) in
            let id = Self.id(exchange)
            let bytes = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.logs(id, as: administrator)
            }
            return Response(.ok, "application/octet-stream", bytes)
        }
    }

    private static func id(_ exchange: Exchange) -> String {
        let text = exchange.parameters.get("id") ?? ""
        return text.removingPercentEncoding ?? text
    }

    private static func read<Message: Decodable>(
        _ type: Message.Type, _ exchange: Exchange
    ) async throws(CheckInRefusal) -> Message {
        try await CheckInRefusal.reading(type, of: exchange.request, atMost: AdministrationRouting.largestBody)
    }
}
