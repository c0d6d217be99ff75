import CordonProtocol
import Foundation
import Hummingbird

extension RequestBodyReader {
    /// The body as one of Cordon's messages.
    static func message<Message: Decodable>(
        _ type: Message.Type, of request: Request, atMost limit: Int
    ) async throws(BodyError) -> Message {
        let value = try await json(request, atMost: limit)
        do {
            return try MessageCoding.decode(type, from: value)
        } catch {
            throw .notJSON(error.reason)
        }
    }
}
