import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Administration beside Graph: what Graph has no words for.
struct AdministrationRoutes: Sendable {
    let administration: Administration

    /// The body of `PUT /admin/v1/allowedAccounts`; null lifts the restriction (SRV-CI-008).
    private struct AllowedAccounts: Decodable {
        var accounts: [PolicyEnvelope.AllowedAccount]?
    }

    /// The answer of `GET /admin/v1/allowedAccounts`.
    private struct PresentAccounts: Encodable {
        var accounts: [PolicyEnvelope.AllowedAccount]?
        /// For `If-Match`.
        var version: String
    }

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/audit", method: .get) { _, context in
            try await audit(context.administrator)
        }
        routing.allowing(.readApps).on("/admin/v1/audit/records", method: .get) { request, context in
            try Response(.ok, try await page(of: request, context.administrator))
        }
        routing.allowing(.readApps).on("/admin/v1/allowedAccounts", method: .get) { _, context in
            let accounts = try await administration.allowedAccounts(as: context.administrator)
            return try Response(.ok, PresentAccounts(accounts: accounts, version: ContentVersion.of(accounts)))
        }
        routing.allowing(.writeApps, stepsUp: true).on("/admin/v1/allowedAccounts", method: .put) { request, context in
            let accounts = try await RequestBodyReader.message(
                AllowedAccounts.self, of: request, atMost: AdministrationRouting.largestBody, isStrict: true
            ).accounts
            try await administration.setAllowedAccounts(
                accounts, ifVersion: EntityTag.expected(by: request), as: context.administrator)
            return Response(status: .noContent)
        }
    }

    /// The answer of `GET /admin/v1/audit/records`.
    private struct AuditPage: Encodable {
        /// The records: oldest first, or newest first where they were asked for `before` one.
        var records: [AuditRecord]
        /// The sequence number to ask for more after, that of the request where there is nothing new yet; or to ask for older ones
        /// before, 0 where there are none.
        var next: Int64
    }

    /// The records after a sequence number, for a collector of events that asks again and again; or those before one, for people.
    private func page(of request: Request, _ administrator: Administrator) async throws -> AuditPage {
        let parameters = request.uri.queryParameters
        func number(_ name: String, else usual: Int64) throws -> Int64 {
            guard let text = parameters[name[...]] else { return usual }
            guard let number = Int64(text), number >= 0 else {
                throw Refusal(.badRequest, "malformed-query", "\(name) is a whole number from 0.")
            }
            return number
        }
        let after = try number("after", else: 0)
        let limit = Int(clamping: try number("limit", else: 100))
        if parameters["before"] != nil {
            let end = try number("before", else: 0)
            let (records, next) = try await administration.newestAuditRecords(
                before: end == 0 ? nil : end, actionsFrom: parameters["action"].map(String.init) ?? "",
                person: parameters["person"].map(String.init), limit: limit, as: administrator)
            return AuditPage(records: records, next: next)
        }
        let records = try await administration.auditRecords(
            AuditQuery(after: after, limit: limit), as: administrator)
        return AuditPage(records: records, next: records.last?.sequence ?? after)
    }

    private func audit(_ administrator: Administrator) async throws -> Response {
        Response(lines: try await administration.exportAudit(as: administrator), file: "audit.jsonl")
    }
}

extension Response {
    /// A file of JSON Lines as it is read from the store, so that its size does not matter.
    ///
    /// - Parameter pieces: Whole lines. A caller without the right was refused before, with an answer of its own.
    init(lines pieces: AsyncThrowingStream<Data, any Error>, file: String) {
        self.init(
            status: .ok,
            headers: [
                .contentType: "application/jsonl", .contentDisposition: "attachment; filename=\"\(file)\"",
            ],
            body: ResponseBody { writer in
                for try await piece in pieces { try await writer.write(ByteBuffer(bytes: piece)) }
                try await writer.finish(nil)
            })
    }
}
