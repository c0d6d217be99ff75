import CordonProtocol
import Foundation
import Testing

/// The service's word that it answered a check-in.
struct ContactProofTests {
    @Test(arguments: [nil, 0, Int64.max] as [Int64?])
    func `a contact comes back with everything that it says, whatever its texts`(generation: Int64?) throws {
        let key = SoftwareSigningKey()
        let contact = ContactProof(
            registrationID: #"r"1\"#, nonce: "n/\u{1}\u{E9}\n", clientTime: -5, issuedAt: 1_800_000_000,
            stateGeneration: generation, envelopeDigest: generation == nil ? nil : #"d"\/"#,
            isAccountDisabled: generation == nil ? true : nil)
        let text = try contact.signed(by: key)
        let keys = JSONWebKeySet([key.publicKey])
        #expect(try ContactProof(verifying: text, by: keys, forRegistration: contact.registrationID) == contact)
        #expect(throws: ProtocolError.self) { try ContactProof(verifying: text, by: keys, forRegistration: "r") }
    }
}
