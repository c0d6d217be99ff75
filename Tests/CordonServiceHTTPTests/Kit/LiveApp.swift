import AsyncHTTPClient
import CordonProtocol
import Foundation
import NIOCore
import NIOHTTP1

/// An app that talks to a service on a socket.
struct LiveApp: Sendable {
    let device = TestDevice()
    let base: String
    let issuer: TestIssuer

    /// Registers; the registration's id.
    func register() async throws -> String {
        let answer = try await send(.POST, "/mam/v1/registrations", try MessageCoding.encode(device.registration))
        let bytes = Data(try await answer.body.collect(upTo: 1 << 20).readableBytesView)
        return try MessageCoding.decode(RegistrationResult.self, from: bytes).registrationID
    }

    /// Opens the event stream.
    func follow(_ registration: String, after event: String? = nil) async throws -> HTTPClientResponse {
        try await send(.GET, "/mam/v1/registrations/\(registration)/events", lastEvent: event)
    }

    private func send(
        _ method: NIOHTTP1.HTTPMethod, _ path: String, _ body: Data? = nil, lastEvent: String? = nil
    ) async throws -> HTTPClientResponse {
        let now = Date()
        let token = try issuer.token(TestIssuer.checkInClaims(device.person, key: device.key.publicKey, at: now))
        var challenge = HTTPClientRequest(url: base + "/mam/v1/registrations")
        challenge.method = .POST
        let nonce = try await HTTPClient.shared.execute(challenge, timeout: .seconds(30)).headers
            .first(name: "dpop-nonce")
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        request.headers.add(name: "authorization", value: "DPoP \(token)")
        request.headers.add(
            name: "dpop",
            value: try DPoPProof.make(
                method: method.rawValue, url: URL(string: base + path) ?? URL(filePath: "/"), accessToken: token,
                nonce: nonce, issued: now, signer: device.key))
        if let lastEvent { request.headers.add(name: "last-event-id", value: lastEvent) }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return try await HTTPClient.shared.execute(request, timeout: .seconds(60))
    }
}

/// The messages of an open event stream, one after the other.
struct LiveEvents {
    private var pieces: HTTPClientResponse.Body.AsyncIterator
    private var parser = EventStreamParser()
    private var waiting: [EventStreamParser.Message] = []

    init(_ body: HTTPClientResponse.Body) {
        pieces = body.makeAsyncIterator()
    }

    /// Waits until the stream has begun.
    mutating func begin() async throws {
        guard let piece = try await pieces.next() else { return }
        waiting += try parser.messages(after: piece.readableBytesView)
    }

    /// The next message, nil at the end of the stream.
    mutating func next() async throws -> EventStreamParser.Message? {
        while waiting.isEmpty {
            guard let piece = try await pieces.next() else { return nil }
            waiting += try parser.messages(after: piece.readableBytesView)
        }
        return waiting.removeFirst()
    }
}
