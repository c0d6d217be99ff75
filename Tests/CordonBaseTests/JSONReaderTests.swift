import CordonBase
import Foundation
import Testing

@Suite struct JSONReaderTests {
    @Test func `an object's members are read, and arrays are read past`() throws {
        let members = try JSONReader.members(
            of: Data(
                "\u{FEFF} {\"a\":\"x\\u00e9\",\"b\":-1.5e3,\"c\":[1,{\"d\":[]}],\"e\":{\"f\":null},\"g\":true} ".utf8))
        #expect(
            members == [
                "a": .scalar(.string("xé")), "b": .scalar(.number("-1.5e3")), "c": .array,
                "e": .object(["f": .scalar(.null)]), "g": .scalar(.bool(true)),
            ])
    }

    @Test(arguments: [
        "", "[]", "1", "{", #"{"a":1"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, #"{"a":[1,]}"#, #"{"a":[,1]}"#, #"{,"a":1}"#,
        #"{"a":1}{}"#, #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":1}}"#, #"{"a":[{"b":1,"b":1}]}"#, #"{"a":"\ud800"}"#,
        "{\"a\":\"\u{1}\"}", #"{"a":1,"\u0061":2}"#,
    ])
    func `what is not one strict object is refused with its place`(text: String) {
        #expect {
            try JSONReader.members(of: Data(text.utf8))
        } throws: { ($0 as? TextFlaw)?.place.hasPrefix("line ") == true && ($0 as? TextFlaw)?.kind == .malformed }
    }

    @Test func `nesting without end is refused`() {
        for text in [#"{"a":"# + String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000)] {
            #expect { try JSONReader.members(of: Data(text.utf8)) } throws: { ($0 as? TextFlaw)?.kind == .tooLarge }
        }
    }
}
