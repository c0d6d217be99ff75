import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Administration beside Graph: what Graph has no words for.
struct AdministrationRoutes: Sendable {
    let gate: AdministrationGate
    let service: any ManagementService
    let logger: Logger

    private static let largestBody = 1 << 20

    /// The body of `PUT /admin/v1/allowedAccounts`; null lifts the restriction (SRV-CI-008).
    private struct AllowedAccounts: Codable {
        var accounts: [PolicyEnvelope.AllowedAccount]?
    }

    func add(to router: some RouterMethods<BasicRequestContext>) {
        on(router, .get, "/admin/v1/audit", .readApps) { _, administrator throws(CheckInRefusal) in
            try await audit(administrator)
        }
        on(router, .get, "/admin/v1/allowedAccounts", .readApps) { _, administrator throws(CheckInRefusal) in
            let accounts = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await service.allowedAccounts(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, AllowedAccounts(accounts: accounts))
        }
        on(router, .put, "/admin/v1/allowedAccounts", .writeApps) { request, administrator throws(CheckInRefusal) in
            let accounts = try await CheckInRefusal.reading(
                AllowedAccounts.self, of: request, atMost: Self.largestBody
            ).accounts
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await service.setAllowedAccounts(accounts, as: administrator)
            }
            return Response(status: .noContent)
        }
    }

    private func on(
        _ router: some RouterMethods<BasicRequestContext>, _ method: HTTPRequest.Method, _ path: String,
        _ access: AdministrationAccess,
        _ handler: @escaping @Sendable (Request, Administrator) async throws(CheckInRefusal) -> Response
    ) {
        router.on(RouterPath(path), method: method) { request, context in
            let exchange = Exchange(request, context, logger: logger)
            var response: Response
            do throws(CheckInRefusal) {
                response = try await handler(request, try await administrator(of: request, access))
                exchange.log(route: path, status: response.status.code)
            } catch {
                // The device's codes mean nothing to an administrator.
                var refusal = error
                refusal.problem.code = nil
                response = refusal.response(in: exchange)
                exchange.log(route: path, status: refusal.problem.status, failure: refusal.problem.type)
            }
            response.headers[.requestID] = exchange.id
            response.headers[.cacheControl] = "no-store"
            return response
        }
    }

    private func administrator(
        of request: Request, _ access: AdministrationAccess
    ) async throws(CheckInRefusal) -> Administrator {
        do throws(TokenRefusal) {
            return try gate.administrator(try await gate.token(of: request), for: access)
        } catch {
            var refusal = CheckInRefusal(error)
            refusal.headers[.wwwAuthenticate] = "Bearer"
            throw refusal
        }
    }

    /// The whole log as it is read from the store, so that its size does not matter; the first piece is awaited, so
    /// that a refusal is still an answer of its own.
    private func audit(_ administrator: Administrator) async throws(CheckInRefusal) -> Response {
        let pieces = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await service.exportAudit(as: administrator)
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
