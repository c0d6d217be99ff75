internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// The answer to a question that apps ask over and over, read without the general decoder.
///
/// What is not exactly such an answer is left to the decoder.
enum ShortReply {
    /// The id that the payload seems to answer, found at its beginning or its end.
    static func id(in payload: Data) -> UInt32? {
        if let rest = payload.dropping("{\"id\":") {
            return number(rest.prefix { (0x30...0x39).contains($0) })
        }
        guard payload.last == UInt8(ascii: "}") else { return nil }
        let digits = payload.dropLast().suffix(while: { (0x30...0x39).contains($0) })
        return payload[..<digits.startIndex].hasEnd(",\"id\":") ? number(digits) : nil
    }

    /// Reads the answer that gives a token; nil for every other.
    static func token(in payload: Data, id: UInt32) -> BrokerToken? {
        if let token = PlainAnswer.token(in: payload, id: id) { return token }
        return (try? members(of: payload)).flatMap { $0.id == id ? $0.token : nil }
    }

    private struct Members {
        var id: UInt32?
        var token: BrokerToken?
    }

    private static func members(of payload: Data) throws(TextFlaw) -> Members? {
        var reader = JSONReader(payload)
        var found = Members()
        guard payload.first == UInt8(ascii: "{"), case .object = try reader.next() else { return nil }
        var isFirst = true
        while let name = try reader.member(isFirst: isFirst) {
            isFirst = false
            switch (name, try reader.next()) {
            case ("id", .number(let text)) where found.id == nil: found.id = UInt32(plain: text)
            case ("token", .object) where found.token == nil: found.token = try token(&reader)
            default: return nil
            }
        }
        try reader.finish()
        return found
    }

    private static func token(_ reader: inout JSONReader) throws(TextFlaw) -> BrokerToken? {
        var (text, expires, scopes): (String?, Date?, [String]?)
        var (isBound, session): (Bool?, UInt64?)
        var count = 0
        while let name = try reader.member(isFirst: count == 0) {
            count += 1
            switch (name, try reader.next()) {
            case ("text", .string(let found)): text = found
            case ("expires", .string(let found)): expires = MessageTime.moment(found)
            case ("scopes", .array): scopes = try reader.texts()
            case ("isBound", .bool(let found)): isBound = found
            case ("session", .number(let found)): session = UInt64(plain: found)
            default: return nil
            }
        }
        // As many as there are, so none was there twice.
        guard count == 5, let text, let expires, let scopes, let isBound, let session else { return nil }
        return BrokerToken(
            AccessToken(text: text, expires: expires, scopes: scopes, isBound: isBound), session: session)
    }

    fileprivate static func number(_ digits: Data) -> UInt32? {
        digits.isEmpty || digits.count > 10 ? nil : UInt32(plain: String(decoding: digits, as: UTF8.self))
    }
}

/// What the broker last said of the device, by its bytes: the same bytes say the same again.
///
/// Nothing in it names a person. A token is never kept like this.
struct DeviceMemory: Sendable {
    /// Everything of an answer before the number that it answers, which ends it.
    private var head = Data()
    private var device: DeviceInformation?

    private struct Reply: Decodable {
        let id: UInt32
        let device: DeviceInformation
        let error: SignInError?
    }

    /// Reads the answer that describes the device; nil for every other.
    mutating func device(in payload: Data, id: UInt32) -> DeviceInformation? {
        let end = Data("\(id)}".utf8)
        guard payload.count > end.count, payload.suffix(end.count) == end else { return nil }
        let head = payload.dropLast(end.count)
        if head == self.head, let device { return device }
        // The last bracket closes the message, so that the number before it is a member of the message itself.
        guard head.hasEnd(",\"id\":"), let reply = try? MessageCoding.decode(Reply.self, from: payload), reply.id == id,
            reply.error == nil
        else { return nil }
        (self.head, device) = (head, reply.device)
        return reply.device
    }
}

extension Data {
    fileprivate func dropping(_ start: StaticString) -> Data? {
        let start = UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount)
        return self.starts(with: start) ? dropFirst(start.count) : nil
    }

    fileprivate func hasEnd(_ end: StaticString) -> Bool {
        let end = UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)
        return suffix(end.count).elementsEqual(end)
    }

    fileprivate func suffix(while isPart: (UInt8) -> Bool) -> Data {
        var start = endIndex
        while start > startIndex, isPart(self[start - 1]) { start -= 1 }
        return self[start...]
    }
}
