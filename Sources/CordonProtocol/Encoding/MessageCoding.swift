public import CordonPolicy
public import Foundation

/// The one JSON form of every Cordon message: RFC 3339 times in UTC, sorted keys.
public enum MessageCoding {
    /// The bytes of a message.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed` when a value has no JSON form, such as a number that is not finite.
    public static func encode(_ message: some Encodable) throws(ProtocolError) -> Data {
        do {
            return Data(try JSONTreeEncoder.value(of: message).text().utf8)
        } catch {
            throw ProtocolError(.malformed, "this \(type(of: message)) has no JSON form")
        }
    }

    /// The message in the bytes; members that this version does not know are ignored.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed`, naming the member but never its value.
    public static func decode<Message: Decodable>(
        _ type: Message.Type, from bytes: Data
    ) throws(ProtocolError) -> Message {
        try decode(type, from: bytes, userInfo: [:])
    }

    /// The message in the bytes, read with what its own reading needs to know.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed`, naming the member but never its value.
    package static func decode<Message: Decodable>(
        _ type: Message.Type, from bytes: Data, userInfo: [CodingUserInfoKey: any Sendable]
    ) throws(ProtocolError) -> Message {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.userInfo = userInfo
        return try reading(type) { try decoder.decode(type, from: bytes) }
    }

    /// The message in JSON that was parsed already.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed`, naming the member but never its value.
    public static func decode<Message: Decodable>(
        _ type: Message.Type, from value: JSONValue
    ) throws(ProtocolError) -> Message {
        try reading(type) { try JSONTreeDecoder(value: value).decode(type) }
    }

    /// The same; a member that the message does not have is refused, for requests whose sender would otherwise believe that it
    /// was meant.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed`, naming the member but never its value.
    package static func decodeStrictly<Message: Decodable>(
        _ type: Message.Type, from value: JSONValue
    ) throws(ProtocolError) -> Message {
        try reading(type) { try JSONTreeDecoder(value: value, isStrict: true).decode(type) }
    }

    /// The message in the bytes, its members read one by one; see `JSONReadable`.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed`, naming the member but never its value.
    package static func read<Message: JSONReadable>(
        _ type: Message.Type, from bytes: Data
    ) throws(ProtocolError) -> Message {
        do { return try Message(JSONMembers(JSONValue(parsing: bytes))) } catch {
            guard error.code != .malformedJSON else { throw ProtocolError(.malformed, "\(type) is not JSON") }
            let place = error.place.isEmpty ? "its top level" : error.place
            throw ProtocolError(.malformed, "\(type) is malformed at \(place)")
        }
    }

    private static func reading<Message>(
        _ type: Message.Type, _ read: () throws -> Message
    ) throws(ProtocolError) -> Message {
        do {
            return try read()
        } catch let error as DecodingError {
            throw ProtocolError(.malformed, "\(type) is malformed at \(error.place)")
        } catch {
            throw ProtocolError(.malformed, "\(type) is not JSON")
        }
    }
}

extension DecodingError {
    /// Where in the document decoding stopped, as a dotted path without any value.
    fileprivate var place: String {
        let context: Context
        var missing: [String] = []
        switch self {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found): context = found
        case .keyNotFound(let key, let found):
            context = found
            missing = [key.stringValue]
        @unknown default: return "an unknown place"
        }
        let path = context.codingPath.map(\.stringValue) + missing
        return path.isEmpty ? "its top level" : path.joined(separator: ".")
    }
}
