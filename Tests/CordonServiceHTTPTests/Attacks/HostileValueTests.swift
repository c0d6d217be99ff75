import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

/// Bodies of the right form with a number, a time, a text or a list in them that no honest sender writes, one at a time and at
/// every place of every body.
@Suite(.timeLimit(.minutes(20))) struct HostileValueTests {
    /// What takes the place of a value, as JSON.
    private static let values = [
        "null", "true", "-1", "1e308", "1e400", "0.5", "9223372036854775807", "-9223372036854775808",
        "18446744073709551616", "\"\"", "\"\\u0000\\u001b[2J\\u202e\"", "[]", "{}", "[[]]",
        "\"9999-12-31T23:59:59Z\"", "\"0001-01-01T00:00:00Z\"", "\"P999999999Y\"",
        "\"" + String(repeating: "a", count: 70_000) + "\"",
    ]
    private static let mark = "here-comes-the-value"

    /// The body once for each of its places, with a mark there.
    private static func marked(_ body: JSONValue) -> [JSONValue] {
        switch body {
        case .object(let members):
            return members.keys.sorted().flatMap { name in
                marked(members[name] ?? .null).map { changed in
                    var members = members
                    members[name] = changed
                    return JSONValue.object(members)
                }
            } + [.string(mark)]
        case .array(let elements):
            return elements.indices.flatMap { index in
                marked(elements[index]).map { changed in
                    var elements = elements
                    elements[index] = changed
                    return JSONValue.array(elements)
                }
            } + [.string(mark)]
        default: return [.string(mark)]
        }
    }

    @Test func `no value at any place of a body is an error of the service`() async throws {
        let attacked = try await AttackedService()
        let test = attacked.test
        var seen: Set<String> = []
        let targets = attacked.targets.filter { target in
            guard let body = target.body, !target.path.hasSuffix("/moving"), !target.path.contains("wipeAndBlock")
            else { return false }
            // The routes of one kind of entity for each kind of policy read the same.
            return seen.insert("\(target.method) \(target.path.split(separator: "/").last ?? "") \(body.text())")
                .inserted
        }
        #expect(targets.count > 30)
        try await test.test { client in
            // The devices' first: what an administrator sets may hold them back.
            for target in targets.sorted(by: { $0.side == .device && $1.side != .device }) {
                for body in Self.marked(target.body ?? .null) {
                    let text = body.text()
                    for value in Self.values {
                        let sent = text.replacing("\"\(Self.mark)\"", with: value)
                        let json: HTTPFields = [.contentType: "application/json"]
                        let answer: TestResponse
                        if target.side == .device {
                            test.clock.advance(by: 3_600)
                            answer = try await client.raw(as: attacked.device, target.method, target.path, sent, json)
                        } else {
                            var headers = json
                            headers[.authorization] = "Bearer \(try attacked.ownerToken())"
                            answer = try await client.raw(target.method, target.path, sent, headers)
                        }
                        attacked.judge(answer, target, String(sent.prefix(300)), mayPass: true)
                    }
                }
            }
            // Whatever was believed, apps are still answered.
            for path in ["/mam/v1/keys", "/.well-known/cordon-mam", "/readyz"] {
                let answer = try await client.raw(.get, path)
                #expect(answer.status == .ok, "\(path): \(String(buffer: answer.body))")
            }
            test.clock.advance(by: 3_600)
            let device = TestDevice(tag: "tag-after", person: .workerB)
            let enrolling = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
            #expect((200..<500).contains(enrolling.status.code), "\(String(buffer: enrolling.body))")
        }
        try await attacked.expectWhole()
    }
}
