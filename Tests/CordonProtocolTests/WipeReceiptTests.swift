import CordonIdentity
import CordonProtocol
import Foundation
import Testing

@Suite struct WipeReceiptTests {
    private let receipt = WipeReceipt(
        commandID: "c1", tenant: TenantID("t"), registrationID: "r", account: "a", bundleID: "example.notes",
        destroyedKeyIDs: ["k1"], files: 3, bytes: 12_345, started: Date(timeIntervalSince1970: 1_800_000_000),
        finished: Date(timeIntervalSince1970: 1_800_000_001), failures: [])

    @Test func `a receipt signed by the device key verifies with that key alone`() throws {
        let key = SoftwareSigningKey()
        let text = try receipt.signed(by: key)
        #expect(try WipeReceipt(verifying: text, signedBy: key.publicKey) == receipt)
        #expect(throws: ProtocolError(.unknownKey, "")) {
            try WipeReceipt(verifying: text, signedBy: SoftwareSigningKey().publicKey)
        }
    }

    @Test func `a receipt that names a failure did not succeed`() {
        var failed = receipt
        failed.failures = ["one file could not be removed"]
        #expect(receipt.succeeded && !failed.succeeded)
    }

    @Test func `a receipt names the key as the registration did or by its thumbprint`() throws {
        let key = SoftwareSigningKey()
        let named = try JSONWebKey(point: key.publicKey.x + key.publicKey.y, keyID: "mine")
        let text = try receipt.signed(by: key)
        #expect(try WipeReceipt(verifying: text, signedBy: named) == receipt)
        let stranger = SoftwareSigningKey().publicKey
        let other = try JSONWebKey(point: stranger.x + stranger.y, keyID: key.publicKey.keyID)
        #expect(throws: ProtocolError.self) { try WipeReceipt(verifying: text, signedBy: other) }
    }
}
