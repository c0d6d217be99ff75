import Cordon
import CordonBase
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import Testing

/// SRV-CI-083, SRV-CI-085, SRV-CI-087: what was not signed for us is refused, reported, and the old rules stay.
@Suite(.timeLimit(.minutes(10))) struct EnvelopeRefusalTests {
    private func expectRefused(
        as code: ProtocolError.Code, _ spoil: @escaping @Sendable (isolated ScriptedService) -> Void
    ) async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(true)])
        let events = protection.events()
        try await device.publish(["printBlocked": .bool(false)])
        // Another's word on the answer is refused before its envelope is looked at.
        await device.service.set { $0.signsContact = false }
        await device.service.set(spoil)

        #expect(await protection.checkIn(device.account.id) == .parsingFailure)
        let reported = await events.first { event in
            if case .envelopeRefused(device.account.id, let error) = event { error.code == code } else { false }
        }
        #expect(reported != nil)
        #expect(!device.mayPrint(protection), "the old rules stay")

        let restarted = try await device.start()
        #expect(!device.mayPrint(restarted), "also after a start")
    }

    @Test func `an envelope signed by another key is refused`() async throws {
        try await expectRefused(as: .unknownKey) { $0.forger = SoftwareSigningKey() }
    }

    @Test func `a key that leaked signs nothing, although an export of the audit log vouches for it`() async throws {
        try await expectRefused(as: .unsupported) { service in
            let leaked = SoftwareSigningKey()
            service.forger = leaked
            service.keySet = try? SignedKeySet(
                [leaked.publicKey], for: .audit, validFrom: .distantPast, until: .distantFuture, root: service.root)
        }
        // The same key in the app's own key set would be as good as any.
        await #expect(throws: Never.self) {
            let device = try Device()
            let protection = try await device.enrolled(["printBlocked": .bool(true)])
            try await device.publish(["printBlocked": .bool(false)])
            await device.service.set { service in
                let next = SoftwareSigningKey()
                service.forger = next
                service.keySet = try? SignedKeySet(
                    [next.publicKey], validFrom: .distantPast, until: .distantFuture, root: service.root)
            }
            #expect(await protection.checkIn(device.account.id) == .newPolicies)
            #expect(device.mayPrint(protection))
        }
    }

    @Test func `an envelope whose payload was changed is refused`() async throws {
        try await expectRefused(as: .wrongSignature) { service in
            service.spoiled = { text in
                var parts = text.split(separator: ".").map(String.init)
                let payload = Base64URL.decode(parts[1]).map { String(decoding: $0, as: UTF8.self) } ?? ""
                parts[1] = Base64URL.encode(Data(payload.replacing("tenant-1", with: "tenant-2").utf8))
                return parts.joined(separator: ".")
            }
        }
    }

    @Test func `an envelope with algorithm none is refused`() async throws {
        try await expectRefused(as: .unsupported) { service in
            service.spoiled = { text in
                let payload = text.split(separator: ".")[1]
                return Base64URL.encode(Data(#"{"alg":"none","typ":"cordon-policy+jwt"}"#.utf8)) + ".\(payload)."
            }
        }
    }

    @Test func `an envelope with a lower sequence is refused`() async throws {
        try await expectRefused(as: .replayed) { $0.change = { $0.sequence = 0 } }
    }

    @Test func `an envelope for another registration is refused`() async throws {
        try await expectRefused(as: .wrongRecipient) { $0.change = { $0.registrationID = "registration-2" } }
    }

    @Test func `an expired envelope is refused`() async throws {
        try await expectRefused(as: .expired) { $0.change = { $0.expiresAt = $0.issuedAt - 1 } }
    }

    @Test func `an envelope that answers another request is refused`() async throws {
        try await expectRefused(as: .replayed) { $0.change = { $0.nonce = "another" } }
    }

    @Test func `a service whose root key is not the pinned one enrols no account`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start(pin: SoftwareSigningKey().publicKey.thumbprint)
        #expect(await protection.enroll(device.account) == .parsingFailure)
        #expect(protection.enrolledAccounts.isEmpty)
    }
}
