import CordonProtocol
import Foundation
import Hummingbird

extension RequestBodyReader {
    /// The body as one of Cordon's messages.
    static func message<Message: Decodable>(
        _ type: Message.Type, of request: Request, atMost limit: Int
    ) async throws(BodyError) -> Message {
        let bytes = try await json(request, atMost: limit).bytes
        do {
            return try MessageCoding.decode(type, from: bytes)
        } catch {
            throw .notJSON(error.reason)
        }
    }
}
