import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Administration beside Graph: what Graph has no words for.
struct AdministrationRoutes: Sendable {
    let routing: AdministrationRouting
    let administration: Administration

    /// The body of `PUT /admin/v1/allowedAccounts`; null lifts the restriction (SRV-CI-008).
    private struct AllowedAccounts: Codable {
        var accounts: [PolicyEnvelope.AllowedAccount]?
    }

    func add(to router: some RouterMethods<BasicRequestContext>) {
        routing.on(router, .get, "/admin/v1/audit", .readApps) { _, administrator throws(CheckInRefusal) in
            try await audit(administrator)
        }
        routing.on(router, .get, "/admin/v1/allowedAccounts", .readApps) { _, administrator throws(CheckInRefusal) in
            let accounts = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.allowedAccounts(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, AllowedAccounts(accounts: accounts))
        }
        routing.on(router, .put, "/admin/v1/allowedAccounts", .writeApps) {
            exchange, administrator throws(CheckInRefusal) in
            let accounts = try await CheckInRefusal.reading(
                AllowedAccounts.self, of: exchange.request, atMost: AdministrationRouting.largestBody
            ).accounts
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.setAllowedAccounts(accounts, as: administrator)
            }
            return Response(status: .noContent)
        }
    }

    /// The whole log as it is read from the store, so that its size does not matter; the first piece is awaited, so
    /// that a refusal is still an answer of its own.
    private func audit(_ administrator: Administrator) async throws(CheckInRefusal) -> Response {
        let pieces = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await administration.exportAudit(as: administrator)
        }
        let body = ResponseBody { writer in
            for try await piece in pieces { try await writer.write(ByteBuffer(bytes: piece)) }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: "application/jsonl", .contentDisposition: "attachment; filename=\"audit.jsonl\"",
            ], body: body)
    }
}
