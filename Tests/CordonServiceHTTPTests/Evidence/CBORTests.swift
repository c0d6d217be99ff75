import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceHTTP

/// CBOR as attestations use it, written in one way or refused.
@Suite struct CBORTests {
    @Test func `what is written the shortest way is read`() {
        let written = CBORWriter.map([
            (
                CBORWriter.text("a"),
                CBORWriter.list([CBORWriter.integer(0), CBORWriter.integer(23), CBORWriter.integer(24)])
            ),
            (CBORWriter.integer(-1), CBORWriter.bytes(Data(count: 300))),
        ])
        let value = CBORValue(written)
        #expect(value?["a"] == .list([.integer(0), .integer(23), .integer(24)]))
        #expect(value?[.integer(-1)]?.bytes?.count == 300)
        #expect(CBORValue(Data([0x1b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])) == .integer(.max))
        #expect(CBORValue(Data([0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])) == .integer(.min))
        #expect(CBORValue(Data([0xa0])) == .map([:]) && CBORValue(Data([0x80])) == .list([]))
    }

    @Test(
        arguments: [
            ("nothing", []), ("a longer way for 23", [0x18, 23]), ("a longer way for 255", [0x19, 0, 255]),
            ("a longer way for 65535", [0x1a, 0, 0, 255, 255]),
            ("a longer way for 2^32-1", [0x1b, 0, 0, 0, 0, 255, 255, 255, 255]),
            ("a number above all", [0x1b, 255, 255, 255, 255, 255, 255, 255, 255]),
            ("a number below all", [0x3b, 255, 255, 255, 255, 255, 255, 255, 255]),
            ("a reserved length", [0x1c]), ("bytes without an end", [0x5f, 0x41, 0, 0xff]),
            ("a list without an end", [0x9f, 0xff]),
            ("a map without an end", [0xbf, 0xff]), ("a tag", [0xc0, 0]), ("true", [0xf5]), ("null", [0xf6]),
            ("a float", [0xf9, 0, 0]),
            ("a break", [0xff]), ("something behind the end", [0, 0]), ("bytes that are not there", [0x45, 1, 2]),
            ("bytes beyond every address", [0x5b, 0x7f, 255, 255, 255, 255, 255, 255, 255]),
            ("bytes of all lengths there are", [0x5b, 255, 255, 255, 255, 255, 255, 255, 255]),
            ("a list of too many", [0x9a, 0, 1, 0, 0]),
            ("a map of too many", [0xbb, 255, 255, 255, 255, 255, 255, 255, 255]),
            ("a key twice", [0xa2, 1, 1, 1, 2]), ("a key without a value", [0xa1, 1]),
            ("text that is none", [0x61, 0xff]),
            ("lists deep in one another", [0x81, 0x81, 0x81, 0x81, 0x81, 0]), ("a length that breaks off", [0x19, 1]),
        ] as [(String, [UInt8])])
    func `anything else is nothing`(_ what: String, _ bytes: [UInt8]) {
        #expect(CBORValue(Data(bytes)) == nil, "\(what)")
    }

    @Test(.seeded) func `no bytes make the reader fall over`() {
        let good = [UInt8](
            CBORWriter.map([
                (CBORWriter.text("fmt"), CBORWriter.text("apple-appattest")),
                (
                    CBORWriter.text("x5c"),
                    CBORWriter.list([CBORWriter.bytes(Data(count: 40)), CBORWriter.bytes(Data(count: 300))])
                ),
            ]))
        var generator = SeededGenerator()
        for _ in 0..<3_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<min(64, bytes.count), using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            _ = CBORValue(Data(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))))
            _ = AuthenticatorData(Data(bytes), hasCredential: true)
        }
    }
}
