internal import CordonIdentity
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

    /// The message in the bytes; members that this version does not know are ignored, and one that is given twice is an error, as are
    /// more than 16 MiB and more than 64 levels.
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
        try reading(type) { try JSONTreeDecoder(value: JSONValue(parsing: bytes), userInfo: userInfo).decode(type) }
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
            guard error.code != .malformedJSON, error.code != .tooLarge else { throw unparsed(error) }
            throw unreadable(error.place, because: error.code == .missingField ? "is missing" : wrongForm)
        }
    }

    private static func reading<Message>(
        _ type: Message.Type, _ read: () throws -> Message
    ) throws(ProtocolError) -> Message {
        do {
            return try read()
        } catch let error as DecodingError {
            throw unreadable(error.place, because: error.flaw)
        } catch {
            throw unparsed(error)
        }
    }

    private static func unparsed(_ error: any Error) -> ProtocolError {
        let isTooLarge = (error as? PolicyError)?.code == .tooLarge
        return ProtocolError(
            .malformed, isTooLarge ? "the message is too large, or too deeply nested" : "the message is not JSON")
    }

    /// What people read on the other side, who do not know what a message is called here.
    private static func unreadable(_ place: String, because flaw: String) -> ProtocolError {
        // The names of members may be the sender's own.
        let subject = place.isEmpty ? "it" : "`\(TerminalText(place, limit: 200))`"
        return ProtocolError(.malformed, "the message cannot be read: \(subject) \(flaw)")
    }

    fileprivate static let wrongForm = "has the wrong form"
}

extension DecodingError {
    /// Where in the document decoding stopped, such as `outcomes[0].time`, without any value; empty for the document itself.
    fileprivate var place: String {
        switch self {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found):
            Self.place(found.codingPath)
        case .keyNotFound(let key, let found): Self.place(found.codingPath + [key])
        @unknown default: ""
        }
    }

    /// What is the matter there.
    fileprivate var flaw: String {
        switch self {
        case .keyNotFound: "is missing"
        case .dataCorrupted(let found) where found.codingPath.last is UnknownMember: "is not known here"
        default: MessageCoding.wrongForm
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.reduce(into: "") { place, key in
            if let index = key.intValue {
                place += "[\(index)]"
            } else {
                place += (place.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}
