import CordonBase
import CordonTestSupport
import Dispatch
import Foundation
import Testing

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `RFC 4648's examples come out as printed there, without padding`(plain: String, text: String) {
        #expect(Base64URL.encode(Data(plain.utf8)) == text)
        #expect(Base64URL.decode(text) == Data(plain.utf8))
    }

    @Test(.seeded) func `any bytes have Foundation's spelling with the other two letters, and come back`() {
        var random = SeededGenerator()
        for count in 0..<300 {
            let bytes = Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            let expected = bytes.base64EncodedString().filter { $0 != "=" }
                .map { $0 == "+" ? "-" : $0 == "/" ? "_" : String($0) }.joined()
            #expect(Base64URL.encode(bytes) == expected)
            #expect(Base64URL.decode(expected) == bytes)
            #expect(Base64URL.decode(Substring("." + expected).dropFirst()) == bytes)
        }
    }

    @Test func `bytes in several pieces are one text`() {
        let pieces = ["a", "bc", "", "defg"].map { Data($0.utf8) }
        var joined = DispatchData.empty
        for piece in pieces { piece.withUnsafeBytes { joined.append($0) } }
        #expect(Base64URL.encode(joined) == Base64URL.encode(Data("abcdefg".utf8)))
        #expect(Base64URL.encode(Data("xabcdefg".utf8).dropFirst()) == Base64URL.encode(Data("abcdefg".utf8)))
    }

    @Test(arguments: ["Zg==", "Zm9v\n", "Z", "Zm9vY", "Zh", "Zm9", "Zm+v", "Zm/v", "Zm v", "Zm9é", "Zm9v\0"])
    func `a second spelling, a foreign letter and an impossible length are refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `no byte but the sixty-four letters is taken at any place`() {
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for length in [2, 3, 4, 6, 7, 8] {
            for place in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var text = [UInt8](repeating: UInt8(ascii: "A"), count: length)
                    text[place] = byte
                    let decoded = text.withUnsafeBufferPointer { Base64URL.decode(letters: $0) }
                    // At the end some letters have bits that mean nothing, and stand for no bytes either.
                    if !letters.contains(byte) { #expect(decoded == nil, "\(byte) at \(place) of \(length)") }
                    if let decoded { #expect(Base64URL.encode(decoded).utf8.elementsEqual(text)) }
                }
            }
        }
    }
}
