internal import CordonBase
internal import CordonProtocol
internal import CordonSignatures
internal import Foundation
internal import HTTPTypes

/// One identity provider as this client talks to it: its metadata, its keys, its nonces.
actor Provider {
    let configuration: SignInConfiguration
    let transport: any HTTPTransport
    let environment: SignInEnvironment

    var metadataCache: (value: ProviderMetadata, fresh: Date)?
    var keyCache: (value: PublishedKeys, fresh: Date, fetched: Date, wasAhead: Bool)?
    /// The newest nonce each origin asked for (RFC 9449 §8.2).
    var nonces: [String: String] = [:]

    /// The largest answer that is read, in bytes.
    static let answerLimit = 1 << 18

    init(_ configuration: SignInConfiguration, transport: any HTTPTransport, environment: SignInEnvironment) {
        self.configuration = configuration
        self.transport = transport
        self.environment = environment
    }

    /// Fetches a document; one retry after half a second when the provider fails (SI-099).
    func document(at url: URL, correlationID: UUID?) async throws(SignInError) -> HTTPAnswer {
        try await retrying { () async throws(SignInError) -> HTTPAnswer in
            try await self.send(.get, url, fields: [:], body: nil, correlationID: correlationID)
        }
    }

    /// Sends a request as it is.
    func send(
        _ method: HTTPRequest.Method, _ url: URL, fields: HTTPFields, body: Data?, correlationID: UUID?
    ) async throws(SignInError) -> HTTPAnswer {
        var request = try HTTPRequest(method, to: url) {
            SignInError(.configuration, .invalidParameter, "the identity provider's address \($0.predicate)")
        }
        request.headerFields = fields
        request.headerFields[.accept] = "application/json"
        if let correlationID, let name = HTTPField.Name("X-Correlation-ID") {
            request.headerFields[name] = correlationID.uuidString
        }
        do {
            return try await transport.send(
                request, body: body, limit: Self.answerLimit, timeout: configuration.requestTimeout)
        } catch {
            throw SignInError(error, correlationID: correlationID)
        }
    }

    private func retrying(
        _ send: () async throws(SignInError) -> HTTPAnswer
    ) async throws(SignInError) -> HTTPAnswer {
        let answer = try await send()
        guard answer.head.status.kind == .serverError else { return answer }
        do {
            try await environment.sleep(.milliseconds(500))
        } catch {
            throw SignInError(.cancelled, .stopped, "the request was cancelled")
        }
        return try await send()
    }
}
