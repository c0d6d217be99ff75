import CordonBase
import Testing

@Suite struct FormEncodingTests {
    @Test(arguments: ["", "plain-._~", "a b+c&d=e%/?#", "é 😀\u{0}\n", "%41"])
    func `every text comes back`(text: String) {
        let encoded = FormEncoding.encode([(key: text, value: text)])
        #expect(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "+") })
        #expect(FormEncoding.pairs(encoded).map { $0.map { [$0.name, $0.value] } } == [[text, text]])
    }

    @Test func `a plus sign is a space, a name alone has an empty value, and the order stays`() {
        let pairs = FormEncoding.pairs("b=1+2&a&&c==x&b=%33")
        #expect(pairs?.map(\.name) == ["b", "a", "c", "b"])
        #expect(pairs?.map(\.value) == ["1 2", "", "=x", "3"])
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%+1", "a=%ff", "%C3=1", "a=% 1", "a=%-1"])
    func `what is not UTF-8 in form encoding is refused`(text: String) {
        #expect(FormEncoding.pairs(text) == nil)
        #expect(FormEncoding.unique(text) == nil)
    }

    @Test func `a name that is given twice, in whichever spelling, has no one value`() {
        #expect(FormEncoding.unique("a=1&b=2") == ["a": "1", "b": "2"])
        #expect(FormEncoding.unique("a=1&%61=1") == nil)
    }
}
