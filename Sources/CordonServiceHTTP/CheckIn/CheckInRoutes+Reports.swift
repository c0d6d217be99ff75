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

    func remediate(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let caller = try await gate.caller(of: exchange.request) { caller throws(CheckInRefusal) in
            try limits.admitCheckIn(caller, at: now())
        }.caller
        let request = try await CheckInRefusal.reading(
            RemediationRequest.self, of: exchange.request, atMost: Self.largestBody)
        let id = Self.registration(exchange)
        let report = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.compliance(request, registration: id, by: caller)
        }
        return try CheckInRefusal.answering(.ok, report)
    }

    func acceptTelemetry(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let caller = try await gate.caller(of: exchange.request) { caller throws(CheckInRefusal) in
            try limits.admitCheckIn(caller, at: now())
        }.caller
        let batch = try await CheckInRefusal.reading(
            TelemetryBatch.self, of: exchange.request, atMost: TelemetryBatch.largestBody)
        let kept = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.acceptTelemetry(batch, by: caller)
        }
        return try CheckInRefusal.answering(.accepted, Accepted(accepted: kept))
    }

    /// Takes `Content-Range: bytes FIRST-LAST/TOTAL` with the piece, or `bytes */TOTAL` without one to ask how much is
    /// here; every answer says so in `Upload-Offset` (RFC 9110 §14.4).
    func receiveLogs(_ exchange: Exchange) async throws(CheckInRefusal) -> Response {
        let caller = try await gate.caller(of: exchange.request, admitting: admitOther).caller
        let piece: Data
        do throws(BodyError) {
            piece = try await RequestBodyReader.bytes(exchange.request, atMost: LogRequest.largestPiece)
        } catch {
            throw CheckInRefusal(error)
        }
        let (offset, total) = try Self.range(of: exchange.request, piece: piece)
        let id = Self.registration(exchange)
        let request = exchange.parameters.get("request") ?? ""
        let here = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await devices.receiveLogs(piece, at: offset, of: total, request: request, registration: id, by: caller)
        }
        return Response(status: .noContent, headers: [.uploadOffset: String(here)])
    }

    private static func range(of request: Request, piece: Data) throws(CheckInRefusal) -> (offset: Int, total: Int) {
        let text = request.headers[.contentRange] ?? ""
        if let match = text.wholeMatch(of: /bytes \*\/(\d{1,9})/), let total = Int(match.1), piece.isEmpty {
            return (0, total)
        }
        guard let match = text.wholeMatch(of: /bytes (\d{1,9})-(\d{1,9})\/(\d{1,9})/), let first = Int(match.1),
            let last = Int(match.2), let total = Int(match.3), last >= first, last - first + 1 == piece.count
        else {
            throw CheckInRefusal(
                "malformed-header", "Content-Range does not describe the piece.", status: 400)
        }
        return (first, total)
    }
}
