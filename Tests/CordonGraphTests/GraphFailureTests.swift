import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// SRV-OP-023, 025, 026: what clients see when the service itself cannot go on.
@Suite struct GraphFailureTests {
    private static let path = "/v1.0/deviceAppManagement/managedAppPolicies"

    @Test func `who has to wait for a turn reads Graph's codes, and when to come back`() {
        let format = GraphFormat(stepUpAge: nil) { Date(timeIntervalSince1970: 0) }
        for (status, own, code) in [
            (.tooManyRequests, "too-many-requests", "TooManyRequests"),
            (.serviceUnavailable, "too-much", "ServiceUnavailable"),
            (.serviceUnavailable, "busy", "ServiceUnavailable"),
        ] as [(HTTPResponse.Status, String, String)] {
            let refusal = format.refusal(of: Refusal(status, own, "Wait.", headers: [.retryAfter: "2"]))
            #expect(refusal.status == status && refusal.code == code && refusal.headers[.retryAfter] == "2")
        }
    }

    @Test(
        arguments: [
            (ServiceError(.storageUnavailable, "disk /secret full"), 503, "ServiceUnavailable", "30"),
            (ServiceError(.storageDamaged, "page 7 of /secret"), 503, "ServiceUnavailable", "30"),
            (ServiceError(.keyUnavailable, "no /secret"), 503, "ServiceUnavailable", "30"),
            (ServiceError(.tooManyRequests, "too many", retryAfterSeconds: 20), 429, "TooManyRequests", "20"),
            (ServiceError(.tooManyRequests, "too many", retryAfterSeconds: 3_600), 429, "TooManyRequests", "170"),
            (ServiceError(.internalError, "nil at /secret"), 500, "InternalServerError", nil),
        ] as [(ServiceError, Int, String, String?)])
    func `a failure has its status, says when to come back, and tells nothing of the inside`(
        _ failure: ServiceError, _ status: Int, _ code: String, _ wait: String?
    ) async throws {
        let storage = FailingStorage()
        let service = try await TestService(storage: storage)
        try await service.test { client in
            #expect(try await client.administer(.get, Self.path).status == .ok)
            storage.failure.withLock { $0 = failure }
            let calls: [(HTTPRequest.Method, String, JSONValue?)] = [
                (.get, Self.path, nil), (.get, Self.path + "/T_x", nil), (.get, "/v1.0/users", nil),
                (
                    .post, Self.path,
                    ["@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "P"]
                ),
            ]
            for (method, path, body) in calls {
                let answer = try await client.administer(method, path, body, headers: [.clientRequestID: "mine"])
                #expect(Int(answer.status.code) == status, "\(method) \(path)")
                #expect(answer.headers[.retryAfter] == wait)
                let error = answer.json["error"]
                #expect(error?["code"]?.string == code)
                #expect(error?["innerError"]?["client-request-id"] == "mine")
                #expect(error?["innerError"]?["request-id"]?.string == answer.headers[.requestID])
                #expect(!String(buffer: answer.body).contains("secret"))
            }
            let item: JSONValue = ["id": "1", "method": "GET", "url": "users"]
            let batch = try await client.administer(.post, "/v1.0/$batch", ["requests": [item]])
            let inner = batch.json["responses"]?.array?.first
            #expect(batch.status == .ok && inner?["status"]?.integer == Int64(status))
            #expect(inner?["headers"]?["Retry-After"]?.string == wait)
            storage.failure.withLock { $0 = nil }
            #expect(try await client.administer(.get, Self.path).status == .ok)
        }
    }
}

/// A store in memory that refuses everything while it has a reason to.
private final class FailingStorage: ServiceStorage {
    let failure = Locked<ServiceError?>(nil)
    private let storage = InMemoryStorage()

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        if let failure = failure.withLock({ $0 }) { throw failure }
        return try await storage.read(tenant, body)
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        if let failure = failure.withLock({ $0 }) { throw failure }
        return try await storage.write(tenant, body)
    }
}
