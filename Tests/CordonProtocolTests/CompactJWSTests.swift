import CordonBase
import CordonProtocol
import Foundation
import Testing

@Suite struct CompactJWSTests {
    private let key = SoftwareSigningKey()
    private var keys: JSONWebKeySet { JSONWebKeySet([key.publicKey]) }
    private let payload = Data(#"{"a":1}"#.utf8)

    private func header(_ json: String, signedBy signer: SoftwareSigningKey) throws -> String {
        let signed = Base64URL.encode(Data(json.utf8)) + "." + Base64URL.encode(payload)
        return signed + "." + Base64URL.encode(try signer.signature(for: Data(signed.utf8)))
    }

    @Test func `a signed payload comes back byte for byte`() throws {
        let text = try CompactJWS.sign(payload, type: .policyEnvelope, with: key)
        #expect(try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys) == payload)
    }

    @Test func `a changed character anywhere is refused`() throws {
        let text = try CompactJWS.sign(payload, type: .policyEnvelope, with: key)
        for index in text.indices {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(throws: ProtocolError.self, "character \(text.distance(from: text.startIndex, to: index))") {
                try CompactJWS.payload(of: changed, type: .policyEnvelope, signedBy: keys)
            }
        }
    }

    @Test func `a key that is not trusted is refused before the signature is looked at`() throws {
        let text = try CompactJWS.sign(payload, type: .policyEnvelope, with: SoftwareSigningKey())
        #expect(throws: ProtocolError(.unknownKey, "")) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        }
    }

    @Test(arguments: ["none", "None", "HS256", "RS256", "ES384"])
    func `an algorithm other than ES256 is refused`(algorithm: String) throws {
        let text = try header(
            #"{"alg":"\#(algorithm)","typ":"cordon-policy+jwt","kid":"\#(key.publicKey.keyID)"}"#, signedBy: key)
        #expect(throws: ProtocolError(.unsupported, "")) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        }
    }

    @Test func `an unsigned text with algorithm none is refused`() throws {
        let text = Base64URL.encode(Data(#"{"alg":"none"}"#.utf8)) + "." + Base64URL.encode(payload) + "."
        #expect(throws: ProtocolError(.unsupported, "")) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        }
    }

    @Test func `one type of message does not pass for another`() throws {
        let text = try CompactJWS.sign(payload, type: .wipeReceipt, with: key)
        #expect(throws: ProtocolError(.unsupported, "")) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        }
    }

    @Test func `a critical extension is refused because none is understood`() throws {
        let text = try header(
            #"{"alg":"ES256","typ":"cordon-policy+jwt","kid":"\#(key.publicKey.keyID)","crit":["x"]}"#, signedBy: key)
        #expect(throws: ProtocolError(.unsupported, "")) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        }
    }

    @Test func `a key in the header is not trusted where an id is expected`() throws {
        let stranger = SoftwareSigningKey()
        let text = try CompactJWS.sign(payload, type: .policyEnvelope, with: stranger, embedsKey: true)
        #expect(throws: ProtocolError(.unknownKey, "")) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        }
    }

    @Test(arguments: ["", ".", "..", "a.b", "a.b.c.d", "é.é.é", "e30=.e30.e30", "e30.e30.e31"])
    func `a malformed text is refused`(text: String) {
        #expect(throws: ProtocolError(.malformed, "")) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        }
    }
}
