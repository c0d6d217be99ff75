import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import Testing

/// SRV-CI-025, SRV-CI-084, SRV-CI-093: signing keys.
struct KeySetTests {
    @Test func `the key set is signed by the root key that discovery names`() async throws {
        let test = try await TestService.withPeople()
        let set = try await test.service.keySet(of: TestService.tenant)
        let pin = try await test.service.discoveryFacts(of: TestService.tenant).rootKeyThumbprint
        #expect(try set.verified(pin: pin, at: test.clock.now).keys == set.keys)
        #expect(throws: ProtocolError(.unknownKey, "")) {
            try set.verified(pin: SoftwareSigningKey().publicKey.thumbprint, at: test.clock.now)
        }
        #expect(try await test.service.keySet(of: TestService.tenant) == set)
    }

    @Test func `a new key is published before it signs, and the old one stays readable`() async throws {
        let test = try await TestService.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let old = try await test.service.keySet(of: TestService.tenant).keys
        let start = test.clock.now.addingTimeInterval(7 * 86_400)
        let new = try await test.service.rotateSigningKey(activeFrom: start, as: test.owner)
        let both = try await test.service.keySet(of: TestService.tenant).keys
        #expect(both == old + [new.publicKey])
        for day in [0.0, 8] {
            test.clock.advance(days: day)
            _ = try await test.service.updatePolicy(
                policy.id, changes: ["minimumPinLength": .integer(Int64(day) + 5)], ifVersion: nil, as: test.owner)
            let text = try #require(try await app.checkIn().response.envelope)
            let signer = day == 0 ? old[0] : new.publicKey
            #expect(throws: Never.self) {
                try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: JSONWebKeySet([signer]))
            }
        }
        test.clock.advance(days: 100)
        #expect(try await test.service.keySet(of: TestService.tenant).keys == [new.publicKey])
        #expect(try await test.service.signingKeys(as: test.owner).count == 3)
        #expect(try await test.records().contains { $0.action == "key.rotate" })
    }

    @Test func `the key set is signed anew before it expires`() async throws {
        let test = try await TestService.withPeople()
        let pin = try await test.service.discoveryFacts(of: TestService.tenant).rootKeyThumbprint
        for _ in 0..<6 {
            test.clock.advance(days: 14)
            let set = try await test.service.keySet(of: TestService.tenant)
            #expect(throws: Never.self) { try set.verified(pin: pin, at: test.clock.now.addingTimeInterval(86_400)) }
        }
    }

    @Test func `every organisation has keys of its own, and an unknown one none`() async throws {
        // SRV-CI-093
        let test = try await TestService.withPeople()
        let other = TenantID("fabrikam.example")
        #expect(await failure { _ = try await test.service.keySet(of: other) }?.code == .notFound)
        try await test.core.open(other)
        #expect(try await test.service.keySet(of: other).keys != test.service.keySet(of: TestService.tenant).keys)
        try await test.core.open(other)
        #expect(try await test.service.keySet(of: other).keys.count == 1)
    }

    @Test func `a store whose keys are missing is not opened`() async throws {
        let test = try await TestService.withPeople()
        let error = await failure {
            _ = try await TestService(storage: test.storage, keyStore: InMemoryKeyStore())
        }
        #expect(error?.code == .keyUnavailable)
    }
}
