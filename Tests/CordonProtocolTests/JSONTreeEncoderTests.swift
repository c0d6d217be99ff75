import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// Messages are written as Foundation's encoder writes them, byte for byte.
struct JSONTreeEncoderTests {
    private struct Everything: Codable, Equatable {
        struct Inner: Codable, Equatable {
            var name: String
            var missing: Int?
        }

        enum Word: String, Codable { case first, second }

        var text = "\u{E4} \u{1F600} \"quoted\" \\ / \n\r\t\u{1} end"
        var (truth, small, large) = (true, Int8.min, UInt64.max)
        var numbers: [Double] = [0, 1, -1.5, 0.1, 1e-7, 1e16, 123_456_789_012, .pi, .greatestFiniteMagnitude]
        var float = Float(0.1)
        var integers = [Int.min, 0, Int.max]
        var time = Date(timeIntervalSince1970: 1_795_000_000)
        var bytes = Data([0, 1, 0xFF, 0x3F, 0xFE])
        var address = URL(string: "https://a.example/b?c=d#e")
        var absent: String?
        var optionals: [Int?] = [1, nil, 3]
        var inner = Inner(name: "x")
        var list = [Inner(name: "a", missing: 1), Inner(name: "b")]
        var members = ["b": [1, 2], "a": [], "\u{E4}": [3]]
        var word = Word.second
        var id = UUID(uuidString: "0B1E1A1A-0000-4000-8000-00000000000A")
        var json: JSONValue = ["a": [1, "b", true, .null], "c": ["d": 1]]
        var (empty, nothing): ([Int], [String: Int]) = ([], [:])
    }

    /// Writes by nested containers, which may be filled after their neighbours.
    private struct Nested: Encodable {
        enum Key: String, CodingKey { case inner, list, late, plain }

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Key.self)
            var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .inner)
            var list = outer.nestedUnkeyedContainer(forKey: .list)
            try outer.encode("p", forKey: .plain)
            try inner.encode(1, forKey: .late)
            var first = list.nestedContainer(keyedBy: Key.self)
            try list.encodeNil()
            try list.encode("x")
            try first.encode(false, forKey: .late)
            var deep = list.nestedUnkeyedContainer()
            try deep.encode(2)
            try outer.encodeNil(forKey: .late)
            var again = encoder.container(keyedBy: Key.self)
            try again.encode("q", forKey: .plain)
        }
    }

    private class Parent: Encodable {
        var a = 1
    }

    private final class Child: Parent {
        enum Key: String, CodingKey { case b }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(2, forKey: .b)
            try super.encode(to: container.superEncoder())
        }
    }

    private static func asFoundationDoes(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func check(_ value: some Encodable) throws {
        let written = String(decoding: try MessageCoding.encode(value), as: UTF8.self)
        #expect(try written == Self.asFoundationDoes(value))
    }

    @Test func `every kind of value and of container is written as Foundation writes it`() throws {
        try check(Everything())
        try check([Everything(), Everything()])
        try check(Nested())
        try check(Child())
        try check("text")
        try check([String: Int]())
        try check([Set([1])])
    }

    @Test func `what is written is read again`() throws {
        var value = Everything()
        value.numbers = [0.5, 2]
        let bytes = try MessageCoding.encode(value)
        #expect(try MessageCoding.decode(Everything.self, from: bytes) == value)
        #expect(try MessageCoding.decode(Everything.self, from: JSONValue(parsing: bytes)) == value)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan]) func `a number that is not finite has no JSON form`(
        number: Double
    ) {
        #expect(throws: ProtocolError(.malformed, "")) { try MessageCoding.encode(["a": [number]]) }
    }
}
