import CordonPolicy
import Foundation
import Testing

@Suite struct JSONTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Data(text.utf8)) }

    @Test(arguments: [
        "0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "123456789012345678901234567890",
        "0.10000000000000000000000000000000000000000001", "1E400", "-0", "-0.0", "1.0", "3e-7",
    ]) func `no digit of a number is lost`(literal: String) throws {
        #expect(try parse(literal).text() == literal)
        #expect(try parse("[\(literal)]").text() == "[\(literal)]")
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "+1", "nul", "tru", "\"", "\"\\x\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"", "\"\u{1}\"", "1 2", "{\"a\":1,\"a\":2}", "[1 2]", "{\"a\" 1}", "NaN", "Infinity", "'a'",
        "1e", "-",
        "\"\\u+041\"", "[", "{\"a\":", "\u{0}",
    ]) func `what is not JSON is refused with its place`(text: String) {
        #expect { try parse(text) } throws: { error in
            guard let error = error as? PolicyError else { return false }
            return error.code == .malformedJSON && error.place.hasPrefix("line ")
        }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: PolicyError(.malformedJSON, "", at: "")) { try JSONValue(parsing: Data([0x22, 0xFF, 0x22])) }
    }

    @Test func `nesting without end is refused`() {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: PolicyError(.tooLarge, "", at: "")) { try parse(text) }
    }

    @Test func `text with every kind of escape is read and written`() throws {
        let value = try parse(#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#)
        #expect(value == .string("a\"\\/\u{8}\u{C}\n\r\té😀"))
        #expect(try parse(value.text()) == value)
        #expect(try parse("\u{FEFF}{}") == [:])
    }

    @Test func `Foundation's coders carry every value`() throws {
        let value: JSONValue = ["a": [1, true, "x", .null, .number(try #require(JSONNumber(literal: "1.25")))]]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
    }

    @Test func `a number that is none has no literal`() {
        #expect(JSONNumber(literal: "1x") == nil)
        #expect(JSONNumber(literal: "") == nil)
        #expect(JSONNumber(literal: "-12.5e3") != nil)
    }
}
