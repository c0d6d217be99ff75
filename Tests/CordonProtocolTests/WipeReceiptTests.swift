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

    @Test func `the receipt of a wipe that failed everywhere is as short as the service wants it`() throws {
        let long = String(repeating: "\u{1}\"🦊", count: 500)
        let failures = (0..<300).map { "attachment \($0): \(long)" }
        let receipt = WipeReceipt(
            commandID: String(repeating: "c", count: 128), tenant: TenantID(String(repeating: "t", count: 64)),
            registrationID: String(repeating: "r", count: 64), account: "a",
            bundleID: String(repeating: "b", count: 256), destroyedKeyIDs: (0..<300).map { "\($0 + 100)" + hex },
            files: .max, bytes: .max, started: .now, finished: .now, failures: failures, cause: "launch.rooted")
        #expect(receipt.isBounded && !receipt.succeeded)
        #expect(receipt.failures.count == 16 && receipt.failures.last == "and 285 more")
        #expect(receipt.failures.first?.hasPrefix("attachment 0:  \"🦊") == true)
        #expect(receipt.destroyedKeyIDs.count == 64 && receipt.destroyedKeyIDs.last?.hasPrefix("399") == true)
        #expect(try receipt.signed(by: SoftwareSigningKey()).utf8.count <= WipeReceipt.largestText)
        var longer = receipt
        longer.failures = Array(repeating: "x", count: WipeReceipt.mostFailures + 1)
        #expect(!longer.isBounded)
    }

    private let hex = String(repeating: "0", count: 32)
}
