import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

extension CheckInRoutes {
    /// The answer to telemetry.
    private struct Accepted: Encodable {
        var accepted: Int
    }

    @Sendable func remediate(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let caller = try await gate.caller(of: request) { caller in
            try limits.admitCheckIn(caller, at: now())
        }.caller
        let message = try await RequestBodyReader.message(
            RemediationRequest.self, of: request, atMost: Self.largestBody, named: caller.bodyDigest)
        let id = context.key("id")
        let report = try await devices.compliance(message, registration: id, by: caller)
        return try Response(.ok, report)
    }

    @Sendable func keepRecoveryShare(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let caller = try await gate.caller(of: request, admitting: admitRecovery).caller
        let share = try await RequestBodyReader.message(
            RecoveryShare.self, of: request, atMost: Self.largestBody, named: caller.bodyDigest)
        try await devices.keepRecoveryShare(share, registration: context.key("id"), by: caller)
        return Response(status: .noContent)
    }

    /// A POST, because it is counted and recorded: a share is given out after a fresh sign-in alone.
    @Sendable func releaseRecoveryShare(
        _ request: Request, _ context: ServiceRequestContext
    ) async throws -> Response {
        let caller = try await gate.caller(of: request, admitting: admitRecovery).caller
        return try Response(.ok, try await devices.releaseRecoveryShare(ofRegistration: context.key("id"), by: caller))
    }

    @Sendable func forgetRecoveryShare(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let caller = try await gate.caller(of: request, admitting: admitRecovery).caller
        try await devices.forgetRecoveryShare(ofRegistration: context.key("id"), by: caller)
        return Response(status: .noContent)
    }

    private func admitRecovery(_ caller: DeviceCaller) throws { try limits.admitRecovery(caller, at: now()) }

    func acceptTelemetry(_ request: Request) async throws -> Response {
        let caller = try await gate.caller(of: request) { caller in
            try limits.admitCheckIn(caller, at: now())
        }.caller
        let batch = try await RequestBodyReader.message(
            TelemetryBatch.self, of: request, atMost: TelemetryBatch.largestBody, named: caller.bodyDigest)
        let kept = try await devices.acceptTelemetry(batch, by: caller)
        return try Response(.accepted, Accepted(accepted: kept))
    }

    /// Takes `Content-Range: bytes FIRST-LAST/TOTAL` with the piece, or `bytes */TOTAL` without one to ask how much is
    /// here; every answer says so in `Upload-Offset` (RFC 9110 §14.4).
    @Sendable func receiveLogs(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let caller = try await gate.caller(of: request, admitting: admitOther).caller
        let piece = try await RequestBodyReader.bytes(
            request, atMost: LogRequest.largestPiece, named: caller.bodyDigest)
        let (offset, total) = try Self.range(of: request, piece: piece)
        let id = context.key("id")
        let name = context.key("request")
        let here = try await devices.receiveLogs(
            piece, at: offset, of: total, request: name, registration: id, by: caller)
        return Response(status: .noContent, headers: [.uploadOffset: String(here)])
    }

    private static func range(of request: Request, piece: Data) throws -> (offset: Int, total: Int) {
        let text = request.headers[.contentRange] ?? ""
        if let match = text.wholeMatch(of: /bytes \*\/(\d{1,9})/), let total = Int(match.1), piece.isEmpty {
            return (0, total)
        }
        guard let match = text.wholeMatch(of: /bytes (\d{1,9})-(\d{1,9})\/(\d{1,9})/), let first = Int(match.1),
            let last = Int(match.2), let total = Int(match.3), last >= first, last - first + 1 == piece.count
        else {
            throw Refusal(.badRequest, "malformed-header", "Content-Range does not describe the piece.")
        }
        return (first, total)
    }
}
