import CordonHTTPClient
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes

/// What one kind of request costs: answers per second of the service's processor time, and how long each took.
struct Cost {
    var name: String
    var perCore: Double
    var median: Double
    var p99: Double
}

/// Asks from several connections at once, and reads the service's processor time around it.
struct Load {
    let service: ServiceProcess
    let transport: AsyncHTTPTransport
    static let connections = 8

    /// Runs requests and measures; every answer must be a success.
    func measure(
        _ name: String, requests: Int, _ ask: @escaping @Sendable (_ connection: Int) async throws -> Void
    ) async throws -> Cost {
        let each = requests / Self.connections
        let before = service.processorTime
        var times: [Double] = []
        try await withThrowingTaskGroup(of: [Double].self) { group in
            for connection in 0..<Self.connections {
                group.addTask {
                    var times: [Double] = []
                    for _ in 0..<each {
                        let began = ContinuousClock.now
                        try await ask(connection)
                        let time = began.duration(to: .now).components
                        times.append(Double(time.seconds) * 1_000 + Double(time.attoseconds) * 1e-15)
                    }
                    return times
                }
            }
            for try await part in group { times += part }
        }
        let used = service.processorTime - before
        times.sort()
        return Cost(
            name: name, perCore: used > 0 ? Double(times.count) / used : 0, median: times[times.count / 2],
            p99: times[times.count * 99 / 100])
    }

    /// A plain request with a token, or none.
    func get(_ path: String, token: String? = nil) async throws {
        try await send(HTTPRequest(method: .get, url: service.base.appending(path: path)), nil, token)
    }

    /// A request with JSON and a token.
    func post(_ path: String, _ message: JSONValue, token: String) async throws {
        var request = HTTPRequest(method: .post, url: service.base.appending(path: path))
        request.headerFields[.contentType] = "application/json"
        try await send(request, Data(message.text().utf8), token)
    }

    private func send(_ request: HTTPRequest, _ body: Data?, _ token: String?) async throws {
        var request = request
        if let token { request.headerFields[.authorization] = "Bearer " + token }
        let answer = try await transport.send(request, body: body, limit: 1 << 20, timeout: .seconds(30))
        guard answer.head.status.kind == .successful else {
            throw SimulatedFailure(status: answer.head.status.code)
        }
    }

    struct SimulatedFailure: Error { let status: Int }
}
