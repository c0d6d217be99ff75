import CordonSignIn
import Foundation
import HTTPTypes

/// A service whose answers to some requests are on their way until a latch opens.
struct HeldAnswers: HTTPTransport {
    let service: any HTTPTransport
    let held: String
    let latch: Latch

    /// - Parameter held: The end of the paths whose answers are held.
    init(_ service: any HTTPTransport, to held: String, latch: Latch) {
        (self.service, self.held, self.latch) = (service, held, latch)
    }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await service.send(request, body: body, limit: limit, timeout: timeout)
        if (request.path ?? "").hasSuffix(held) { await latch.pass() }
        return answer
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await service.stream(request, timeout: timeout)
    }
}
