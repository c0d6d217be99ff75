import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

extension CheckInRefusal {
    /// Calls the service and gives its refusals the form of a problem document.
    static func asking<Answer: Sendable>(
        _ call: () async throws(ServiceError) -> Answer
    ) async throws(CheckInRefusal) -> Answer {
        do {
            return try await call()
        } catch {
            throw CheckInRefusal(error)
        }
    }

    /// Reads a message from the body, or refuses it.
    static func reading<Message: Decodable>(
        _ type: Message.Type, of request: Request, atMost limit: Int
    ) async throws(CheckInRefusal) -> Message {
        do {
            return try await RequestBodyReader.message(type, of: request, atMost: limit)
        } catch {
            throw CheckInRefusal(error)
        }
    }

    /// An answer with a message as its body.
    static func answering(
        _ status: HTTPResponse.Status, _ message: some Encodable, cacheControl: String = "no-store"
    ) throws(CheckInRefusal) -> Response {
        do throws(ProtocolError) {
            return Response(
                status, "application/json", try MessageCoding.encode(message), headers: [.cacheControl: cacheControl])
        } catch {
            throw CheckInRefusal("internal", "The answer has no JSON form.", status: 500, code: .internalError)
        }
    }

    /// The refusal as an answer that names its exchange.
    func response(in exchange: Exchange) -> Response {
        var problem = problem
        problem.traceID = exchange.id
        var headers = headers
        headers[.cacheControl] = "no-store"
        return Response(
            HTTPResponse.Status(code: problem.status), ProblemDetails.mediaType,
            (try? MessageCoding.encode(problem)) ?? Data(), headers: headers)
    }
}
