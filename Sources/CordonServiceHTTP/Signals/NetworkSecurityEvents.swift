import AsyncHTTPClient
import CordonBase
import CordonHTTPGuard
import CordonProtocol
import Foundation
import NIOCore
import NIOHTTP1

/// Asks a provider for its security events over HTTPS; follows no redirect, since the question carries a token.
struct NetworkSecurityEvents: Sendable {
    /// The largest answer: as many tokens as are asked for, each as large as a pushed one may be, and their ids.
    private static let largestAnswer = 8 << 20
    /// How long the answer may take.
    private static let timeout = Duration.seconds(90)

    /// One for the process, which needs no shutdown.
    private static let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .guarded)

    let stream: IssuerProfile.EventStream

    /// Posts a question; nil where the answer is too large to be read.
    func ask(_ question: Data) async -> Result<Data?, TokenRefusal> {
        if let flaw = AddressFlaw(of: stream.poll) { return Self.failure("the address \(flaw.predicate)") }
        var request = HTTPClientRequest(url: stream.poll.absoluteString)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "accept", value: "application/json")
        if let file = stream.tokenFile {
            // Read each time: what renews the token replaces the file.
            let text: String
            do {
                text = try SecretFile.text(
                    of: file, with: "the token for security events", hint: "give the file mode 0600 or 0640")
            } catch { return Self.failure(error.reason, file.path) }
            guard let token = Self.token(in: text) else {
                return Self.failure("the file holds no token for security events", file.path)
            }
            request.headers.add(name: "authorization", value: "Bearer \(token)")
        }
        request.body = .bytes(ByteBuffer(bytes: question))
        guard let outcome = await bounded(by: Self.timeout, { [request] in await Self.answer(to: request) }) else {
            return Self.failure("the provider did not answer in time")
        }
        return outcome
    }

    private static func answer(to request: HTTPClientRequest) async -> Result<Data?, TokenRefusal> {
        do {
            // The caller bounds the whole exchange.
            let response = try await client.execute(request, deadline: .distantFuture)
            guard response.status == .ok else { return failure("the provider answered \(response.status.code)") }
            return .success(Data(try await response.body.collect(upTo: largestAnswer).readableBytesView))
        } catch is NIOTooManyBytesError {
            return .success(nil)
        } catch {
            return failure("the provider could not be reached", "\(error)")
        }
    }

    /// A bearer token (RFC 6750 §2.1).
    private static func token(in text: String) -> String? {
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? token : nil
    }

    private static func failure(_ reason: String, _ note: String? = nil) -> Result<Data?, TokenRefusal> {
        .failure(TokenRefusal(.issuerUnavailable, reason, note: note.map(TokenRefusalLog.plain)))
    }
}
