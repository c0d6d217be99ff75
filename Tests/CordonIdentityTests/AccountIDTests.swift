import CordonIdentity
import Foundation
import Testing

@Suite struct AccountIDTests {
    @Test func `ids that differ only in case name one account and keep their spelling`() {
        let upper = AccountID("Ada@Contoso.Example")
        let lower = AccountID("ada@contoso.example")
        #expect(upper == lower)
        #expect(Set([upper, lower]).count == 1)
        #expect(upper.rawValue == "Ada@Contoso.Example")
    }

    @Test func `the empty id equals only itself`() {
        #expect(AccountID("") == AccountID(""))
        #expect(AccountID("") != AccountID("a"))
    }

    @Test func `an id is encoded as a bare string`() throws {
        let bytes = try JSONEncoder().encode([AccountID("oid-A")])
        #expect(String(decoding: bytes, as: UTF8.self) == #"["oid-A"]"#)
        #expect(try JSONDecoder().decode([AccountID].self, from: bytes) == ["oid-a"])
    }
}
