import CordonBase
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

extension CheckInRoutes {
    /// The answer to a blocked person, with the wipe inside (SRV-CI-019).
    private static let locked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")

    func discover() async throws(CheckInRefusal) -> Response {
        try CheckInRefusal.answering(.ok, await discovery.value(), cacheControl: "public, max-age=300")
    }

    func keys() async throws(CheckInRefusal) -> Response {
        let keys = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.keySet(of: gate.tenant)
        }
        let age = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.keySetMaxAge(of: gate.tenant)
        }
        return try CheckInRefusal.answering(.ok, keys, cacheControl: "public, max-age=\(age)")
    }

    func register(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let caller = try await gate.caller(of: exchange.request) { caller throws(CheckInRefusal) in
            try limits.admitRegistration(caller, at: now())
        }.caller
        let request = try await CheckInRefusal.reading(
            RegistrationRequest.self, of: exchange.request, atMost: Self.largestBody)
        let outcome = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.register(request, by: caller)
        }
        let status: HTTPResponse.Status = outcome.isUserBlocked ? Self.locked : outcome.isNew ? .created : .ok
        var response = try CheckInRefusal.answering(status, outcome.result)
        if outcome.isNew {
            response.headers[.location] = "\(gate.base)/mam/v1/registrations/\(outcome.result.registrationID)"
        }
        return response
    }

    func checkIn(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let id = Self.registration(exchange)
        let caller = try await gate.visitor(of: exchange.request, registration: id) { caller throws(CheckInRefusal) in
            try limits.admitCheckIn(caller, at: now())
        }
        var message = try await CheckInRefusal.reading(
            CheckInRequest.self, of: exchange.request, atMost: Self.largestBody)
        if message.appliedDigest == nil, let tag = exchange.request.headers[.ifNoneMatch] {
            // The header says the same as the body's version (SRV-CI-089).
            message.appliedVersion = Self.version(inTag: tag)
        }
        let request = message
        let outcome = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.checkIn(request, registration: id, by: caller)
        }
        metrics.checkedIn(outcome.response.statusCode.rawValue)
        return try CheckInRefusal.answering(outcome.isUserBlocked ? Self.locked : .ok, outcome.response)
    }

    func acknowledge(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let id = Self.registration(exchange)
        // Read before the sender is known, because a receipt in it can be the evidence.
        let acknowledgement = try await CheckInRefusal.reading(
            Acknowledgement.self, of: exchange.request, atMost: Acknowledgement.largestBody)
        let caller = try await gate.reporter(
            of: exchange.request, registration: id, sending: acknowledgement
        ) { caller throws(CheckInRefusal) in
            try await limits.admitReport(caller, at: now()) { () throws(CheckInRefusal) in
                try await CheckInRefusal.asking { () throws(ServiceError) in
                    try await devices.isAwaited(acknowledgement.commandID, ofRegistration: id, of: gate.tenant)
                }
            }
        }
        let kind = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.acknowledge(acknowledgement, registration: id, by: caller)
        }
        if kind == .wipe { metrics.reportedWipe(acknowledgement.phase.rawValue) }
        return Response(status: .noContent)
    }

    func unregister(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let caller = try await gate.caller(of: exchange.request, admitting: admitOther).caller
        let id = Self.registration(exchange)
        let report: UnenrollmentReport? =
            exchange.request.headers[.contentType] == nil
            ? nil
            : try await CheckInRefusal.reading(
                UnenrollmentReport.self, of: exchange.request, atMost: Self.largestBody)
        try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.unregister(id, report: report, by: caller)
        }
        return Response(status: .noContent)
    }

    func follow(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let (caller, until) = try await gate.caller(of: exchange.request, admitting: admitOther)
        let id = Self.registration(exchange)
        var after: Int64?
        if let text = exchange.request.headers[.lastEventID] {
            guard let number = Int64(text), number >= 0 else {
                throw CheckInRefusal("malformed-header", "Last-Event-ID is no event id of this service.", status: 400)
            }
            after = number
        }
        let resume = after
        let stream = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.events(ofRegistration: id, after: resume, by: caller)
        }
        return events.response(to: stream, endingAfter: until.timeIntervalSince(now()))
    }

    @Sendable func admitOther(_ caller: DeviceCaller) throws(CheckInRefusal) {
        try limits.admitOther(caller, at: now())
    }

    private static func version(inTag tag: String) -> String {
        var text = tag.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("W/") { text.removeFirst(2) }
        return text.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }

    static func registration(_ exchange: Exchange) -> String {
        exchange.parameters.get("id") ?? ""
    }
}
