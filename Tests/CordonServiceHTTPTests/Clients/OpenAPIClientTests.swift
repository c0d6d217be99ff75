import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceHTTP

/// The service against its own document, by a tool that thinks up requests.
@Suite(.tags(.foreignPrograms), .serialized, .timeLimit(.minutes(10))) struct OpenAPIClientTests {
    @Test(.enabled(if: PythonClient.has("openapi_spec_validator"), "needs openapi-spec-validator"))
    func `the document is OpenAPI 3_1`() async throws {
        let (status, output) = try await PythonClient.run("openapi_valid.py", [:])
        #expect(status == 0, "\(output.suffix(4_000))")
    }

    @Test(.enabled(if: PythonClient.has("schemathesis"), "needs schemathesis"))
    func `schemathesis finds no server error, and no answer that the document does not have`() async throws {
        try await LiveService().serving { service, base in
            _ = try await service.publishPolicy()
            _ = try await LiveApp(base: base, issuer: service.issuer).register()
            let (status, output) = try await PythonClient.run("openapi_fuzz.py", try service.client(at: base))
            #expect(status == 0, "\(output.suffix(6_000))")
        }
    }
}
