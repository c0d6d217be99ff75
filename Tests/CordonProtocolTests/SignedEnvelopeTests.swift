import CordonIdentity
import CordonProtocol
import Foundation
import Testing

/// SRV-CI-083, SRV-CI-085: an envelope is for one registration, follows the one before, and answers one request.
@Suite struct SignedEnvelopeTests {
    private let key = SoftwareSigningKey()
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let receiver = SignedEnvelope.Receiver(
        tenant: TenantID("t1"), registrationID: "r1", account: "oid-a", bundleID: "example.notes")

    private func envelope(sequence: Int64 = 2, change: (inout PolicyEnvelope) -> Void = { _ in }) throws
        -> SignedEnvelope
    {
        var envelope = PolicyEnvelope(
            tenant: receiver.tenant, registrationID: receiver.registrationID, account: receiver.account,
            bundleID: receiver.bundleID, sequence: sequence, version: "v\(sequence)", nonce: "n",
            issuedAt: 1_800_000_000, expiresAt: 1_800_003_600, policy: nil)
        change(&envelope)
        return try SignedEnvelope(signing: envelope, with: key)
    }

    private func accept(_ signed: SignedEnvelope, after current: (sequence: Int64, digest: String)? = nil) throws
        -> PolicyEnvelope
    {
        try signed.accepted(
            by: JSONWebKeySet([key.publicKey]), for: receiver, after: current, nonce: "n", at: now)
    }

    @Test func `a fresh envelope for this registration is accepted`() throws {
        #expect(try accept(try envelope()).version == "v2")
    }

    @Test func `an envelope for another tenant, registration, account or app is refused`() throws {
        let changes: [(inout PolicyEnvelope) -> Void] = [
            { $0.tenant = TenantID("t2") }, { $0.registrationID = "r2" }, { $0.account = "oid-b" },
            { $0.bundleID = "example.other" },
        ]
        for change in changes {
            let signed = try envelope(change: change)
            #expect(throws: ProtocolError(.wrongRecipient, "")) { try accept(signed) }
        }
    }

    @Test func `a lower sequence is refused`() throws {
        let signed = try envelope(sequence: 1)
        #expect(throws: ProtocolError(.replayed, "")) { try accept(signed, after: (2, "x")) }
    }

    @Test func `the same sequence is accepted only with the same bytes`() throws {
        let signed = try envelope()
        _ = try accept(signed, after: (2, signed.digest))
        #expect(throws: ProtocolError(.replayed, "")) { try accept(signed, after: (2, "other")) }
    }

    @Test func `an expired envelope is refused as new and still readable as stored`() throws {
        let signed = try envelope { $0.expiresAt = 1_800_000_000 }
        #expect(throws: ProtocolError(.expired, "")) { try accept(signed) }
        _ = try signed.verified(by: JSONWebKeySet([key.publicKey]), for: receiver)
    }

    @Test func `an answer to another request is refused`() throws {
        let signed = try envelope { $0.nonce = "old" }
        #expect(throws: ProtocolError(.replayed, "")) { try accept(signed) }
    }

    @Test func `a forged envelope is refused before it is parsed`() throws {
        let forged = try CompactJWS.sign(Data("not even JSON".utf8), type: .policyEnvelope, with: SoftwareSigningKey())
        #expect(throws: ProtocolError(.unknownKey, "")) { try accept(SignedEnvelope(forged)) }
    }
}
