import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// SRV-CI-025, SRV-CI-084, SRV-CI-093: signing keys.
struct KeySetTests {
    @Test func `the key set is signed by the root key that discovery names`() async throws {
        let test = try await TestOrganisation.withPeople()
        let set = try await test.service.devices.keySet(of: TestOrganisation.tenant)
        let pin = try await test.service.devices.discoveryFacts(of: TestOrganisation.tenant).rootKeyThumbprint
        #expect(try set.verified(pin: pin, at: test.clock.now).keys == set.keys)
        #expect(throws: ProtocolError(.unknownKey, "")) {
            try set.verified(pin: SoftwareSigningKey().publicKey.thumbprint, at: test.clock.now)
        }
        #expect(try await test.service.devices.keySet(of: TestOrganisation.tenant) == set)
    }

    @Test func `a set that was signed while the clock was ahead is handed out no more once it is right`() async throws {
        let test = try await TestOrganisation.withPeople()
        let pin = try await test.service.devices.discoveryFacts(of: TestOrganisation.tenant).rootKeyThumbprint
        test.clock.advance(by: 365 * 86_400)
        let ahead = try await test.service.devices.keySet(of: TestOrganisation.tenant)
        test.clock.advance(by: -365 * 86_400)
        let set = try await test.service.devices.keySet(of: TestOrganisation.tenant)
        #expect(set.version > ahead.version, "apps that took the other one take this one as well")
        #expect(throws: ProtocolError(.expired, "")) {
            try set.verified(pin: pin, at: test.clock.now.addingTimeInterval(4 * 86_400))
        }
        #expect(try await test.service.devices.keySet(of: TestOrganisation.tenant) == set)
    }

    @Test func `a new key is published before it signs, and the old one stays readable`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let old = try await test.service.devices.keySet(of: TestOrganisation.tenant).keys
        let start = test.clock.now.addingTimeInterval(7 * 86_400)
        let new = try await test.service.administration.rotateSigningKey(activeFrom: start, as: test.owner)
        let both = try await test.service.devices.keySet(of: TestOrganisation.tenant).keys
        #expect(both == old + [new.publicKey])
        for day in [0.0, 8] {
            test.clock.advance(by: day * 86_400)
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["minimumPinLength": .integer(Int64(day) + 5)], ifVersion: nil, as: test.owner)
            let text = try #require(try await app.checkIn().response.envelope)
            let signer = day == 0 ? old[0] : new.publicKey
            #expect(throws: Never.self) {
                try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: JSONWebKeySet([signer]))
            }
        }
        test.clock.advance(by: 100 * 86_400)
        #expect(try await test.service.devices.keySet(of: TestOrganisation.tenant).keys == [new.publicKey])
        #expect(try await test.service.administration.signingKeys(as: test.owner).count == 4)
        #expect(try await test.records().contains { $0.action == "key.rotate" })
    }

    @Test func `a key that was overtaken before it began never signs, and whatever signs is published`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let overtaken = try await test.service.administration.rotateSigningKey(
            activeFrom: test.clock.now.addingTimeInterval(7 * 86_400), as: test.owner)
        test.clock.advance(by: 1 * 86_400)
        let new = try await test.service.administration.rotateSigningKey(activeFrom: test.clock.now, as: test.owner)
        for (day, length) in [(0.0, 4), (8, 5), (85, 6), (10, 7)] as [(Double, Int64)] {
            test.clock.advance(by: day * 86_400)
            if day > 80 { try await app.register() }
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["minimumPinLength": .integer(length)], ifVersion: nil, as: test.owner)
            // The app itself takes an envelope only from a key of the published set.
            let text = try #require(try await app.checkIn().response.envelope)
            #expect(throws: Never.self) {
                try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: JSONWebKeySet([new.publicKey]))
            }
            #expect(try await test.service.devices.keySet(of: TestOrganisation.tenant).keys == [new.publicKey])
        }
        let known = try await test.service.administration.signingKeys(as: test.owner)
        #expect(known.contains { $0.id == overtaken.id })
    }

    @Test func `an emergency ends the other keys at once and brings every app an envelope by the new one`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        #expect(try await app.checkIn().response.unchanged)
        var stream = try await test.service.devices.events(
            ofRegistration: app.registrationID, after: nil, by: app.caller
        )
        .makeAsyncIterator()
        let new = try await test.service.administration.rotateSigningKey(activeFrom: test.clock.now, as: test.owner)
        #expect(await stream.next()?.kind == .policyChanged)
        #expect(try await test.service.devices.keySet(of: TestOrganisation.tenant).keys == [new.publicKey])
        let text = try #require(try await app.checkIn().response.envelope)
        #expect(throws: Never.self) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: JSONWebKeySet([new.publicKey]))
        }
        #expect(try await app.checkIn().response.unchanged)
    }

    @Test func `the key set is signed anew before it expires`() async throws {
        let test = try await TestOrganisation.withPeople()
        let pin = try await test.service.devices.discoveryFacts(of: TestOrganisation.tenant).rootKeyThumbprint
        for _ in 0..<6 {
            test.clock.advance(by: 14 * 86_400)
            let set = try await test.service.devices.keySet(of: TestOrganisation.tenant)
            #expect(throws: Never.self) { try set.verified(pin: pin, at: test.clock.now.addingTimeInterval(86_400)) }
        }
    }

    @Test func `of two key sets that are signed at once, apps are given the newer one`() throws {
        // SRV-CI-084
        let ring = KeyRing(store: InMemoryServiceKeyStore(), setLifetime: .seconds(72 * 3_600))
        let (tenant, now) = (TestOrganisation.tenant, SettableClock().now)
        let keys = try [ServiceSigningKey.Role.root, .envelope].map {
            try ring.make($0, of: tenant, created: now, activeFrom: now)
        }
        let newer = try ring.issue(keys, version: 2, tenant: tenant, at: now)
        #expect(try ring.issue(keys, version: 1, tenant: tenant, at: now) == newer)
        #expect(ring.issuedSet(of: keys, tenant: tenant, at: now) == newer)
        let next = try ring.issue(keys, version: 3, tenant: tenant, at: now)
        #expect(next.version == 3 && ring.issuedSet(of: keys, tenant: tenant, at: now) == next)
    }

    @Test func `every organisation has keys of its own, and an unknown one none`() async throws {
        // SRV-CI-093
        let test = try await TestOrganisation.withPeople()
        let other = TenantID("fabrikam.example")
        #expect(await failure { _ = try await test.service.devices.keySet(of: other) }?.code == .notFound)
        try await test.service.open(other)
        #expect(
            try await test.service.devices.keySet(of: other).keys
                != test.service.devices.keySet(of: TestOrganisation.tenant).keys)
        try await test.service.open(other)
        #expect(try await test.service.devices.keySet(of: other).keys.count == 1)
    }

    @Test func `a store whose keys are missing is not opened`() async throws {
        let test = try await TestOrganisation.withPeople()
        let error = await failure {
            _ = try await TestOrganisation(storage: test.storage, keyStore: InMemoryServiceKeyStore())
        }
        #expect(error?.code == .keyUnavailable)
    }
}
