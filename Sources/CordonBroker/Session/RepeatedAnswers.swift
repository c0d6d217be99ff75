internal import CordonBase
internal import CordonSignIn
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What each connection was last told, for as long as nothing changes: apps ask the same questions over and over, and the broker need not
/// read and answer a question anew whose every byte but its number and correlation id it has just answered.
///
/// Holds tokens. A change of what an answer hangs on forgets all answers in the same step.
final class RepeatedAnswers: Sendable {
    private struct Entry {
        let question: NumberedText
        let answer: NumberedText
        /// When the answer is right, as long as nothing changes.
        let lasts: Range<Date>
    }

    private let entries = Locked<[Int: Entry]>([:])
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Keeps the answer to a connection's newest question; nothing where the question or the answer cannot be told apart from its number.
    func keep(
        _ frame: Data, to question: Data, _ head: BrokerRequestHead, of peer: Int, for lasts: Range<Date>
    ) {
        guard let question = NumberedText(question, number: head.id, mark: head.correlationID?.uuidString),
            let answer = NumberedText(Data(frame.dropFirst(4)), number: head.id, mark: nil)
        else { return }
        entries.withLock { $0[peer] = Entry(question: question, answer: answer, lasts: lasts) }
    }

    /// The frame that answers a question that is the connection's last one but for number and correlation id; nil for every other.
    func answer(to question: Data, of peer: Int) -> Data? {
        guard let entry = entries.withLock({ $0[peer] }), let number = entry.question.number(in: question),
            entry.lasts.contains(now())
        else { return nil }
        return BrokerFrame.encode(entry.answer.text(numbered: number))
    }

    func forget(_ peer: Int) { entries.withLock { $0[peer] = nil } }

    func forgetAll() { entries.withLock { $0 = [:] } }
}

/// A JSON object that is known but for the number in its member `id` and the UUID in its member `correlationID`.
///
/// What stands between these has no other reading: neither digits nor a UUID can end the text that they stand in.
struct NumberedText: Sendable {
    private let before: [UInt8]
    private let after: [UInt8]
    /// Where the UUID begins, as far from the beginning, or behind the number; nil without one.
    private let mark: Place?

    private enum Place { case before(Int), after(Int) }

    private static let markLength = 36

    /// Takes a text apart; nil where the number, or the mark, is not found exactly once.
    init?(_ text: Data, number: UInt32, mark: String?) {
        let (bytes, digits) = (Data(text), String(number))
        let found = Self.places(of: "\"id\":\(digits)", in: bytes).filter { end in
            end < bytes.count && (bytes[end] == UInt8(ascii: ",") || bytes[end] == UInt8(ascii: "}"))
        }
        guard found.count == 1, let end = found.first else { return nil }
        before = Array(bytes[..<(end - digits.utf8.count)])
        after = Array(bytes[end...])
        guard let mark else {
            self.mark = nil
            return
        }
        let marks = Self.places(of: "\"correlationID\":\"\(mark)\"", in: bytes)
        guard mark.utf8.count == Self.markLength, marks.count == 1, let stop = marks.first else { return nil }
        let start = stop - 1 - Self.markLength
        self.mark = start < before.count ? .before(start) : .after(start - end)
    }

    /// Where each occurrence ends.
    private static func places(of part: String, in bytes: Data) -> [Int] {
        var ends: [Int] = []
        var rest = bytes[...]
        while let place = rest.range(of: Data(part.utf8)) {
            ends.append(place.upperBound)
            rest = rest[place.upperBound...]
        }
        return ends
    }

    /// The number of a text that is this one otherwise; nil for every other text.
    func number(in text: Data) -> UInt32? {
        text.withUnsafeBytes { bytes -> UInt32? in
            let count = bytes.count - before.count - after.count
            guard (1...10).contains(count) else { return nil }
            let (head, rest) = (bytes[..<before.count], bytes[before.count...])
            guard isSame(head, before, at: { if case .before(let place) = $0 { place } else { nil } }),
                isSame(rest.dropFirst(count), after, at: { if case .after(let place) = $0 { place } else { nil } })
            else { return nil }
            return Self.number(rest.prefix(count))
        }
    }

    /// Compares a part with the known one, in which a UUID may stand at a place.
    private func isSame(_ part: Slice<UnsafeRawBufferPointer>, _ known: [UInt8], at place: (Place) -> Int?) -> Bool {
        known.withUnsafeBytes { known in
            let part = UnsafeRawBufferPointer(rebasing: part)
            guard let start = mark.flatMap(place) else { return Self.isSame(part[...], known[...]) }
            let end = start + Self.markLength
            return Self.isSame(part[..<start], known[..<start]) && Self.isMark(part[start..<end])
                && Self.isSame(part[end...], known[end...])
        }
    }

    /// Compares at once: byte by byte it would take longer than the rest of the answer.
    private static func isSame(_ part: Slice<UnsafeRawBufferPointer>, _ known: Slice<UnsafeRawBufferPointer>) -> Bool {
        let (part, known) = (UnsafeRawBufferPointer(rebasing: part), UnsafeRawBufferPointer(rebasing: known))
        guard part.count == known.count else { return false }
        guard let left = part.baseAddress, let right = known.baseAddress else { return part.isEmpty }
        return memcmp(left, right, part.count) == 0
    }

    private static func isMark(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default:
                (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
            }
        }
    }

    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt32? {
        guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + UInt64(digit - 0x30)
        }
        return UInt32(exactly: number)
    }

    /// The text with another number.
    func text(numbered number: UInt32) -> Data {
        let digits = String(number)
        var text: [UInt8] = []
        text.reserveCapacity(before.count + digits.utf8.count + after.count)
        text += before
        text += digits.utf8
        text += after
        return Data(text)
    }
}
