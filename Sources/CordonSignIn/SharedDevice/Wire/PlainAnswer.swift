internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Reads an answer byte for byte as the broker writes it: members in the order of their names, no blank, and no text that needs an escape.
///
/// A reader that takes members in any order needs three times as long, which shows beside a token that the broker has at hand. What is not
/// written like that is left to it.
struct PlainAnswer {
    private var rest: Slice<UnsafeRawBufferPointer>

    private init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes[...]
    }

    /// Reads the answer that gives a token; nil for every other.
    static func token(in payload: Data, id: UInt32) -> BrokerToken? {
        payload.withUnsafeBytes { bytes in
            var answer = PlainAnswer(bytes)
            guard answer.take("{\"id\":"), answer.number(of: UInt32.self) == id, answer.take(",\"token\":") else {
                return nil
            }
            let token = answer.token()
            return answer.take("}") && answer.rest.isEmpty ? token : nil
        }
    }

    private mutating func token() -> BrokerToken? {
        guard take("{\"expires\":"), let expires = text().flatMap(MessageTime.written),
            take(",\"isBound\":"), let isBound = take("true") ? true : take("false") ? false : nil,
            take(",\"scopes\":"), let scopes = texts(), take(",\"session\":"), let session = number(of: UInt64.self),
            take(",\"text\":"), let text = text(), take("}")
        else { return nil }
        return BrokerToken(
            AccessToken(text: text, expires: expires, scopes: scopes, isBound: isBound), session: session)
    }

    /// Takes a piece that stands next; false where another does.
    private mutating func take(_ piece: StaticString) -> Bool {
        let count = piece.utf8CodeUnitCount
        guard rest.count >= count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
            memcmp(start, piece.utf8Start, count) == 0
        else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    /// The number that stands next, as JSON spells it.
    private mutating func number<Number: FixedWidthInteger>(of type: Number.Type) -> Number? {
        var number: Number = 0
        var count = 0
        for byte in rest {
            guard (0x30...0x39).contains(byte) else { break }
            let (more, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isBeyond) = more.addingReportingOverflow(Number(byte - 0x30))
            guard !isTooLarge, !isBeyond, count == 0 || number > 0 else { return nil }
            number = sum
            count += 1
        }
        rest = rest.dropFirst(count)
        return count > 0 ? number : nil
    }

    private mutating func texts() -> [String]? {
        guard take("[") else { return nil }
        var texts: [String] = []
        while !take("]") {
            guard texts.isEmpty || take(","), let text = text() else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// The text that stands next; nil for one that is more than what stands there.
    private mutating func text() -> String? {
        guard take("\"") else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: rest)
        guard let start = bytes.baseAddress, let end = memchr(start, Int32(UInt8(ascii: "\"")), bytes.count) else {
            return nil
        }
        let part = UnsafeRawBufferPointer(start: start, count: UnsafeRawPointer(end) - start)
        // A loop without an end of its own takes many bytes at once.
        var flaws: UInt8 = 0
        for byte in part { flaws |= byte & 0x80 | (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0) }
        guard flaws == 0 else { return nil }
        rest = rest.dropFirst(part.count + 1)
        return String(decoding: part, as: UTF8.self)
    }
}
