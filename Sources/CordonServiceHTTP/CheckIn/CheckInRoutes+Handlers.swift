import CordonBase
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

extension CheckInRoutes {
    /// The answer to a blocked person, with the wipe inside (SRV-CI-019).
    private static let locked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")

    func discover() async throws -> Response {
        try Response(.ok, await discovery.value(), cacheControl: "public, max-age=300")
    }

    func keys() async throws -> Response {
        let keys = try await devices.keySet(of: gate.tenant)
        let age = try await devices.keySetMaxAge(of: gate.tenant)
        return try Response(.ok, keys, cacheControl: "public, max-age=\(age)")
    }

    func register(_ request: Request) async throws -> Response {
        let caller = try await gate.newcomer(of: request) { caller in
            try limits.admitRegistration(caller, at: now())
        }
        let message = try await RequestBodyReader.message(
            RegistrationRequest.self, of: request, atMost: Self.largestBody, named: caller.bodyDigest)
        let outcome = try await devices.register(message, by: caller)
        let status: HTTPResponse.Status = outcome.isUserBlocked ? Self.locked : outcome.isNew ? .created : .ok
        var response = try Response(status, outcome.result)
        if outcome.isNew {
            response.headers[.location] = "\(gate.base)/mam/v1/registrations/\(outcome.result.registrationID)"
        }
        return response
    }

    @Sendable func checkIn(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let id = context.key("id")
        let (caller, refusal) = try await gate.visitor(of: request, registration: id) { caller in
            try limits.admitCheckIn(caller, at: now())
        }
        var message = try await RequestBodyReader.message(
            CheckInRequest.self, of: request, atMost: Self.largestBody, named: caller.bodyDigest,
            usual: CheckInRequest.init(usual:))
        if var refusal {
            // An app that was told before that the account is disabled removes data unless it is told otherwise.
            refusal.contact = try await devices.wordOfEnabledAccount(answering: message, registration: id, by: caller)
            throw refusal
        }
        if message.appliedDigest == nil, caller.bodyDigest == nil, let tag = request.headers[.ifNoneMatch] {
            // The header says the same as the body's version (SRV-CI-089), where nothing says that the body is as it was sent.
            message.appliedVersion = EntityTag.version(in: tag)
        }
        let outcome = try await devices.checkIn(message, registration: id, by: caller)
        metrics.checkedIn(outcome.response.statusCode.rawValue)
        return Response(
            outcome.isUserBlocked ? Self.locked : .ok, "application/json", outcome.response.bytes,
            headers: [.cacheControl: "no-store"])
    }

    @Sendable func acknowledge(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let id = context.key("id")
        // Read before the sender is known, because a receipt in it can be the evidence; for a registration alone that there is.
        try await gate.requireRegistration(id, or: request)
        let request = try await RequestBodyReader.whole(request, atMost: Acknowledgement.largestBody)
        let acknowledgement = try await RequestBodyReader.message(
            Acknowledgement.self, of: request, atMost: Acknowledgement.largestBody)
        let caller = try await gate.reporter(
            of: request, registration: id, sending: acknowledgement
        ) { caller in
            try await limits.admitReport(caller, at: now()) {
                try await devices.isAwaited(acknowledgement.commandID, ofRegistration: id, of: gate.tenant)
            }
        }
        _ = try await RequestBodyReader.bytes(
            request, atMost: Acknowledgement.largestBody, named: caller.bodyDigest)
        let phase = try await devices.acknowledge(acknowledgement, registration: id, by: caller)
        if let phase { metrics.reportedWipe(phase.rawValue) }
        return Response(status: .noContent)
    }

    @Sendable func unregister(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let caller = try await gate.caller(of: request, admitting: admitOther).caller
        let id = context.key("id")
        let request = try await RequestBodyReader.whole(request, atMost: Self.largestBody)
        let isEmpty = try await RequestBodyReader.bytes(
            request, atMost: Self.largestBody, named: caller.bodyDigest
        ).isEmpty
        let report: UnenrollmentReport? =
            isEmpty
            ? nil
            : try await RequestBodyReader.message(
                UnenrollmentReport.self, of: request, atMost: Self.largestBody)
        try await devices.unregister(id, report: report, by: caller)
        return Response(status: .noContent)
    }

    @Sendable func follow(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let (caller, until) = try await gate.caller(of: request, admitting: admitOther)
        let id = context.key("id")
        // After an id that is none of this service's, everything may have been missed.
        let after = request.headers[.lastEventID].map { max(0, Int64($0) ?? 0) }
        let stream = try await devices.events(ofRegistration: id, after: after, by: caller)
        return events.response(to: stream, endingAfter: until.timeIntervalSince(now()))
    }

    @Sendable func admitOther(_ caller: DeviceCaller) throws {
        try limits.admitOther(caller, at: now())
    }
}
