import CordonPolicy
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// SRV-OP-015: bodies packed with gzip, both ways.
@Suite struct GzipTests {
    private static let path = "/v1.0/deviceAppManagement/iosManagedAppProtections"

    private func send(
        _ client: TestClient, _ body: Data, coding: String = "gzip"
    ) async throws -> TestResponse {
        let token = try client.service.issuer.token(TestIssuer.administrationClaims(at: client.service.clock.now))
        return try await client.client.execute(
            uri: Self.path, method: .post,
            headers: [
                .authorization: "Bearer \(token)", .contentType: "application/json", .contentEncoding: coding,
            ], body: ByteBuffer(bytes: body))
    }

    /// A body that is large enough to be worth packing.
    private static func body(_ length: Int) -> Data {
        Data(
            JSONValue.object([
                "displayName": "Packed", "description": .string(String(repeating: "x", count: length)),
            ]).text().utf8)
    }

    @Test func `what was packed is what is unpacked`() throws {
        let plain = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
        let packed = try #require(GzipCoding.pack(plain))
        #expect(packed.count < plain.count)
        #expect(GzipCoding.unpack(packed, atMost: plain.count) == .bytes(plain))
        #expect(GzipCoding.unpack(packed, atMost: plain.count - 1) == .tooLarge)
        #expect(GzipCoding.unpack(packed.dropLast(), atMost: plain.count) == .malformed)
        #expect(GzipCoding.unpack(packed + [0], atMost: plain.count) == .malformed)
        #expect(GzipCoding.unpack(Data("plain".utf8), atMost: 100) == .malformed)
        #expect(GzipCoding.unpack(Data(), atMost: 100) == .malformed)
        #expect(GzipCoding.pack(Data("short".utf8)) == nil)
    }

    @Test func `a packed policy is made as if it had come plain`() async throws {
        try await TestService().test { client in
            let answer = try await send(client, try #require(GzipCoding.pack(Self.body(5_000))))
            #expect(answer.status == .created)
            #expect(answer.json["description"]?.string?.count == 5_000)
        }
    }

    @Test func `a small body that unpacks to a large one is refused before it is`() async throws {
        try await TestService().test { client in
            let packed = try #require(GzipCoding.pack(Self.body(50 << 20)))
            #expect(packed.count < 300_000)
            #expect(try await send(client, packed).status == .contentTooLarge)
        }
    }

    @Test(arguments: ["br", "gzip, gzip", "deflate"])
    func `another coding is refused, not read as it is`(coding: String) async throws {
        try await TestService().test { client in
            let answer = try await send(client, Self.body(10), coding: coding)
            #expect(answer.status == .unsupportedMediaType)
        }
        try await TestService().test { client in
            let answer = try await send(client, Data("not gzip".utf8))
            #expect(answer.status == .unsupportedMediaType)
        }
    }

    @Test(arguments: [
        ("gzip", true), ("br, gzip;q=0.5", true), ("gzip;q=0", false), ("*", true), ("*, gzip;q=0.0", false),
        ("identity", false), ("", false), ("deflate", false),
    ])
    func `an answer is packed for clients that take it`(accepted: String, isPacked: Bool) async throws {
        let service = try await TestService()
        for _ in 0..<3 { _ = try await service.publishPolicy() }
        try await service.test { client in
            let headers: HTTPFields = accepted.isEmpty ? [:] : [.acceptEncoding: accepted]
            let plain = try await client.administer(.get, Self.path)
            let answer = try await client.administer(.get, Self.path, headers: headers)
            #expect(answer.headers[.contentEncoding] == (isPacked ? "gzip" : nil))
            #expect(answer.headers[.vary] == "Accept-Encoding" && plain.headers[.vary] == "Accept-Encoding")
            guard isPacked else { return }
            let bytes = GzipCoding.unpack(Data(answer.body.readableBytesView), atMost: 1 << 20)
            #expect(bytes == .bytes(Data(plain.body.readableBytesView)))
        }
    }
}
