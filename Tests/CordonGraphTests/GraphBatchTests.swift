import CordonPolicy
import CordonTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Several requests in one, with the habits of two clients (SRV-OP-012…014).
@Suite struct GraphBatchTests {
    private static func answers(
        _ client: TestClient, _ requests: [JSONValue], path: String = "/beta/$batch"
    ) async throws -> [JSONValue] {
        let answer = try await client.administer(.post, path, ["requests": .array(requests)])
        #expect(answer.status == .ok)
        return answer.json["responses"]?.array ?? []
    }

    @Test func `items are answered in order with text ids, an object of headers, and the same thing twice`()
        async throws
    {
        try await TestService().test { client in
            let group = "groups/\(TestService.group)?$select=displayName,id,groupTypes,membershipRule"
            let answers = try await Self.answers(
                client,
                [
                    ["id": 1, "method": "GET", "url": .string(group)],
                    ["id": "b", "method": "get", "url": .string("/" + group)],
                    [
                        "id": 3, "method": "GET",
                        "url": "deviceAppManagement/defaultManagedAppProtections/D_x/assignments",
                    ],
                    ["id": "c", "method": "GET", "url": "/users/$count"],
                ])
            #expect(answers.map { $0["id"] } == ["1", "b", "3", "c"])
            #expect(answers.map { $0["status"]?.integer } == [200, 200, 404, 200])
            #expect(answers.allSatisfy { $0["headers"]?.object != nil && $0.object?.keys.contains("body") == true })
            #expect(answers[0]["body"]?["displayName"] == "Field workers")
            #expect(answers[0]["body"] == answers[1]["body"])
            #expect(answers[2]["body"]?["error"]?["code"] == "ResourceNotFound")
            #expect(answers[3]["body"] == 2)
        }
    }

    @Test(arguments: ["dependsOn", "depends_on"])
    func `an item whose dependency failed is not tried`(_ spelling: String) async throws {
        try await TestService().test { client in
            let create: JSONValue = [
                "id": "2", "method": "POST", "url": "/groups", "body": ["displayName": "New"],
                "headers": ["Content-Type": "application/json"],
            ]
            var dependent = create.object ?? [:]
            dependent[spelling] = ["1"]
            let failed: JSONValue = ["id": "1", "method": "GET", "url": "/groups/none"]
            let answers = try await Self.answers(client, [failed, .object(dependent)])
            #expect(answers.map { $0["status"]?.integer } == [404, 424])
            let good: JSONValue = ["id": "1", "method": "GET", "url": "/users"]
            #expect(try await Self.answers(client, [good, .object(dependent)]).last?["status"]?.integer == 201)
            let groups = try await client.administer(.get, "/v1.0/groups").json["value"]?.array ?? []
            #expect(groups.count == 2)
        }
    }

    @Test func `ids are compared without case, and come back as they were sent`() async throws {
        try await TestService().test { client in
            let first: JSONValue = ["id": "Step1", "method": "GET", "url": "/groups"]
            let second: JSONValue = ["id": "b", "method": "GET", "url": "/groups", "dependsOn": ["step1"]]
            let answers = try await Self.answers(client, [first, second])
            #expect(answers.map { $0["id"] } == ["Step1", "b"])
            #expect(answers.map { $0["status"]?.integer } == [200, 200])
            let same: JSONValue = ["id": "STEP1", "method": "GET", "url": "/groups"]
            let twice = try await client.administer(.post, "/v1.0/$batch", ["requests": [first, same]])
            #expect(twice.status == .badRequest)
        }
    }

    /// Microsoft Graph refuses such a batch as well: "Invalid dependency for request Id".
    @Test(arguments: ["2", "3", "none"])
    func `a batch with an item that depends on itself, a later one or none is refused before any is tried`(
        _ dependency: String
    ) async throws {
        try await TestService().test { client in
            let create: JSONValue = ["id": "1", "method": "POST", "url": "/groups", "body": ["displayName": "New"]]
            let dependent: JSONValue = [
                "id": "2", "method": "GET", "url": "/groups", "dependsOn": [.string(dependency)],
            ]
            let later: JSONValue = ["id": "3", "method": "GET", "url": "/groups"]
            let answer = try await client.administer(
                .post, "/v1.0/$batch", ["requests": [create, dependent, later]])
            #expect(answer.status == .badRequest)
            #expect(answer.json["error"]?["details"]?.array?.first?["target"] == "requests[1].dependsOn")
            let groups = try await client.administer(.get, "/v1.0/groups").json["value"]?.array ?? []
            #expect(groups.count == 1)
        }
    }

    @Test func `an item is checked as if it had come alone, and cannot say who asks`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let claims = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
            let owner = try service.issuer.token(TestIssuer.administrationClaims(at: service.clock.now))
            let item: JSONValue = [
                "id": "1", "method": "POST", "url": "deviceAppManagement/iosManagedAppProtections",
                "body": ["displayName": "x"], "headers": ["Authorization": .string("Bearer \(owner)")],
            ]
            let answer = try await client.administer(
                .post, "/v1.0/$batch", ["requests": [item]], claims: claims)
            #expect(answer.json["responses"]?.array?.first?["status"]?.integer == 403)
        }
    }

    @Test func `a file in a batch is there in Base64, and HEAD has no body`() async throws {
        try await TestService().test { client in
            let job: JSONValue = ["reportName": "MAMAppProtectionStatus", "select": ["Policy"]]
            let made = try await client.administer(.post, "/beta/deviceManagement/reports/exportJobs", job)
            let id = try #require(made.json["id"]?.string)
            let answers = try await Self.answers(
                client,
                [
                    [
                        "id": "1", "method": "GET",
                        "url": .string("deviceManagement/reports/exportJobs/\(id)/file"),
                    ],
                    ["id": "2", "method": "HEAD", "url": "users"],
                ])
            let file = answers.first?["body"]?.string.flatMap { Data(base64Encoded: $0) }
            #expect(file == Data("Policy\r\n".utf8))
            #expect(answers.first?["headers"]?["Content-Type"]?.string?.hasPrefix("text/csv") == true)
            #expect(answers.last?["status"] == 200 && answers.last?["body"] == .null)
        }
    }

    @Test func `files have the room of one batch together, and are told by their type`() async throws {
        let items: [JSONValue] = (1...3).map { ["id": .integer($0), "method": "GET", "url": "file"] }
        let body = JSONValue.object(["requests": .array(items)]).text()
        let request = Request(
            head: HTTPRequest(
                method: .post, scheme: "http", authority: "localhost", path: "/v1.0/$batch",
                headerFields: [.contentType: "application/json"]),
            body: RequestBody(buffer: ByteBuffer(string: body)))
        var rooms: [Int] = []
        // A file of one number would read as JSON, too.
        let answer = try await GraphBatch.answer(request, under: .v1) { _, room in
            rooms.append(room)
            return GraphReply(.ok, "text/csv", Data("1234".utf8))
        }
        #expect(rooms == [GraphBatch.mostBytes, GraphBatch.mostBytes - 4, GraphBatch.mostBytes - 8])
        let responses = try JSONValue(parsing: answer.body)["responses"]?.array
        #expect(responses?.map { $0["body"] } == Array(repeating: "MTIzNA==", count: 3))

        func file() -> GraphReply {
            var file = GraphReply(.ok, "text/csv", Data())
            file.pieces = AsyncThrowingStream { pieces in
                for piece in ["ab", "cd"] { pieces.yield(Data(piece.utf8)) }
                pieces.finish()
            }
            return file
        }
        #expect(try await file().gathered(atMost: 4).body == Data("abcd".utf8))
        await #expect(throws: Refusal.self) { _ = try await file().gathered(atMost: 3) }
    }

    private static let unacceptable: [JSONValue] = [
        [:], ["requests": []], ["requests": "x"], ["requests": [["id": "1", "method": "GET"]]],
        ["requests": [["method": "GET", "url": "users"]]],
        ["requests": [["id": "1", "method": "TRACE", "url": "users"]]],
        ["requests": [["id": "1", "method": "GET", "url": "https://elsewhere.example/v1.0/users"]]],
        ["requests": [["id": "1", "method": "GET", "url": "users\r\nX: y"]]],
        ["requests": [["id": "1", "method": "GET", "url": "users", "headers": ["a b": "c"]]]],
        ["requests": [["id": "1", "method": "GET", "url": "users", "dependsOn": "2"]]],
        ["requests": [["id": "1", "method": "GET", "url": "users", "depends_on": [["id": "2"]]]]],
        ["requests": .array(Array(repeating: ["id": "1", "method": "GET", "url": "users"], count: 21))],
    ]

    @Test(arguments: unacceptable)
    func `a batch that is none is refused whole`(_ body: JSONValue) async throws {
        try await TestService().test { client in
            let answer = try await client.administer(.post, "/v1.0/$batch", body)
            #expect(answer.status == .badRequest)
            #expect(answer.json["error"]?["details"]?.array?.isEmpty == false)
        }
    }

    @Test func `batches do not nest, and a path says what it takes`() async throws {
        try await TestService().test { client in
            let answers = try await Self.answers(
                client, [["id": "1", "method": "POST", "url": "$batch", "body": ["requests": []]]])
            #expect(answers.first?["status"]?.integer == 404)
            let options = try await client.client.execute(uri: "/v1.0/groups", method: .options)
            #expect(options.status == .noContent)
            #expect(options.headers[.allow] == "GET, HEAD, OPTIONS, POST")
            #expect(try await client.client.execute(uri: "/v1.0/none", method: .options).status == .notFound)
        }
    }

    @Test func `two requests of a batch have two ids, and bodies are UTF-8`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let item: JSONValue = ["id": "1", "method": "GET", "url": "/groups"]
            let twice = try await client.administer(.post, "/v1.0/$batch", ["requests": [item, item]])
            #expect(twice.status == .badRequest)
            let body: JSONValue = ["requests": [item]]
            for type in ["application/json; charset=utf-16", "application/json;charset=\"ISO-8859-1\""] {
                let answer = try await client.administer(
                    .post, "/v1.0/$batch", body, headers: [.contentType: type])
                #expect(answer.status == .unsupportedMediaType, "\(type)")
            }
        }
    }

}
