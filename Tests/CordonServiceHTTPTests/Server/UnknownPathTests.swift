import CordonPolicy
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// SRV-OP-023, SRV-OP-015: paths that no route has, and methods that every path takes.
@Suite struct UnknownPathTests {
    @Test(arguments: ["/", "/nothing", "/v2.0/me", "/deviceAppManagement", "/healthz/x", "/scim/v3/Users"])
    func `a path of no version is answered with Graph's envelope`(path: String) async throws {
        try await TestService().test { client in
            let answer = try await client.client.execute(uri: path, method: .get)
            #expect(answer.status == .notFound)
            #expect(answer.json["error"]?["code"] == "ResourceNotFound")
            #expect(answer.json["error"]?["innerError"]?["request-id"]?.string == answer.headers[.requestID])
        }
    }

    @Test(arguments: ["/mam/v1/nothing", "/admin/v1/nothing", "/cordon/v2/devices"])
    func `apps and operators get a problem document`(path: String) async throws {
        try await TestService().test { client in
            let answer = try await client.client.execute(uri: path, method: .post)
            #expect(answer.status == .notFound && answer.problem == "not-found")
            #expect(answer.headers[.contentType] == "application/problem+json")
        }
    }

    @Test(arguments: ["/healthz", "/readyz", "/.well-known/cordon-mam", "/mam/v1/keys"])
    func `HEAD is answered like GET, without the body`(path: String) async throws {
        try await TestService().test { client in
            let answer = try await client.client.execute(uri: path, method: .head)
            #expect(answer.status == .ok)
            #expect(answer.body.readableBytes == 0)
        }
    }
}
