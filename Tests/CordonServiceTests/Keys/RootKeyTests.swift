import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-084: the root key may be elsewhere, key sets only get newer, and what leaked is never vouched for again.
struct RootKeyTests {
    private static let tenant = TestOrganisation.tenant

    private func root(_ test: TestOrganisation) async throws -> String {
        try await test.service.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
    }

    @Test func `a service without its root key answers by what that key delegated, and apps take it by the same pin`()
        async throws
    {
        let store = InMemoryServiceKeyStore()
        let test = try await TestOrganisation(keyStore: store)
        let pin = try await root(test)
        let rootKey = try store.key(pin, of: Self.tenant)
        store.remove(pin, of: Self.tenant)
        let again = try await TestOrganisation(storage: test.storage, keyStore: store, clock: test.clock)
        #expect(try await root(again) == pin)
        let set = try await again.service.devices.keySet(of: Self.tenant)
        #expect(set.delegation != nil)
        #expect(try set.verified(pin: pin, at: again.clock.now).keys == set.keys)
        #expect(try set.verified(pin: "other", orNext: pin, at: again.clock.now).keys == set.keys)
        #expect(throws: ProtocolError(.unknownKey, "")) { try set.verified(pin: "other", at: again.clock.now) }
        #expect(try set.embeddedRoot() == pin)
        // Its end comes nearer, and somebody fetches the root key.
        again.clock.advance(by: 80 * 86_400)
        #expect(try await again.service.devices.readiness(of: Self.tenant).needsAttention(at: again.clock.now))
        again.clock.advance(by: 11 * 86_400)
        #expect(
            await failure { _ = try await again.service.devices.readiness(of: Self.tenant) }?.code == .keyUnavailable)
        #expect(await failure { _ = try await again.service.devices.keySet(of: Self.tenant) }?.code == .keyUnavailable)
        let clock = again.clock
        let custody = RootKeyCustody(store, of: Self.tenant) { clock.now }
        #expect(throws: ServiceError.self) { try custody.delegate(by: SoftwareSigningKey(), for: .seconds(86_400)) }
        _ = try custody.delegate(by: rootKey, for: .seconds(90 * 86_400))
        let renewed = try await again.service.devices.keySet(of: Self.tenant)
        #expect(try renewed.verified(pin: pin, at: again.clock.now, after: set.version).keys == renewed.keys)
    }

    @Test func `the root key delegates where it is kept, for a key that never leaves the service`() async throws {
        let store = InMemoryServiceKeyStore()
        let test = try await TestOrganisation(keyStore: store)
        let pin = try await root(test)
        let rootKey = try store.key(pin, of: Self.tenant)
        store.remove(pin, of: Self.tenant)
        let clock = test.clock
        let custody = RootKeyCustody(store, of: Self.tenant) { clock.now }
        let wanted = try custody.request()
        let end = clock.now.addingTimeInterval(40 * 86_400)
        func signed(_ key: JSONWebKey, by root: SoftwareSigningKey, until end: Date = end) throws -> String {
            try KeyDelegation(of: key, from: clock.now, until: end, root: root).text
        }
        for bad in [
            try signed(wanted, by: SoftwareSigningKey()), try signed(SoftwareSigningKey().publicKey, by: rootKey),
            try signed(wanted, by: rootKey, until: clock.now), "x.y.z",
        ] {
            #expect(throws: ServiceError.self) { try custody.install(bad) }
        }
        #expect(try custody.install(signed(wanted, by: rootKey)).key.thumbprint == wanted.thumbprint)
        let set = try await test.service.devices.keySet(of: Self.tenant)
        #expect(try set.verified(pin: pin, at: clock.now).keys == set.keys)
    }

    @Test func `a delegation vouches for its own key alone, and for no longer than it lasts`() async throws {
        let (root, delegate, other) = (SoftwareSigningKey(), SoftwareSigningKey(), SoftwareSigningKey())
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let delegation = try KeyDelegation(
            of: delegate.publicKey, from: now, until: now.addingTimeInterval(100), root: root)
        let keys = [SoftwareSigningKey().publicKey]
        let pin = root.publicKey.thumbprint
        let good = try SignedKeySet(
            keys, validFrom: now, until: now.addingTimeInterval(1_000), delegate: delegate, under: delegation)
        #expect(try good.verified(pin: pin, at: now).keys == keys)
        #expect(throws: ProtocolError(.expired, "")) { try good.verified(pin: pin, at: now.addingTimeInterval(100)) }
        // What is stored stays readable.
        #expect(try good.verified(pin: pin, at: .distantPast).keys == keys)
        let forged = try SignedKeySet(
            keys, validFrom: now, until: now.addingTimeInterval(50), delegate: other, under: delegation)
        #expect(throws: ProtocolError(.unknownKey, "")) { try forged.verified(pin: pin, at: now) }
        #expect(throws: ProtocolError.self) { _ = try KeyDelegation(verifying: good.signed) }
    }

    @Test func `key sets only get newer, also after a restart with a clock that was set back`() async throws {
        let test = try await TestOrganisation()
        let pin = try await root(test)
        let first = try await test.service.devices.keySet(of: Self.tenant)
        test.clock.advance(by: 2 * 86_400)
        let second = try await test.service.devices.keySet(of: Self.tenant)
        #expect(second.version > first.version)
        #expect(throws: ProtocolError(.replayed, "")) {
            try first.verified(pin: pin, at: test.clock.now.addingTimeInterval(-1.9 * 86_400), after: second.version)
        }
        test.clock.advance(by: -86_400)
        let restarted = try await TestOrganisation(storage: test.storage, keyStore: test.keyStore, clock: test.clock)
        let third = try await restarted.service.devices.keySet(of: Self.tenant)
        #expect(third.version > second.version)
        #expect(try third.verified(pin: pin, at: test.clock.now, after: second.version).keys == third.keys)
        // Apps of the version before know neither versions nor delegations.
        #expect(third.delegation == nil)
        let days = Double(ServiceConfiguration().keySetLifetime.components.seconds) / 86_400
        #expect(days <= 7, "a recorded set counts for days, not for a month")
    }

    @Test func `a key that leaked is in nothing that the root key signs, whatever the clock says`() async throws {
        let test = try await TestOrganisation.withPeople()
        let leaked = try #require(try await test.service.devices.keySet(of: Self.tenant).keys.first)
        _ = try await test.export()
        test.clock.advance(by: 60)
        _ = try await test.service.administration.rotateSigningKey(activeFrom: test.clock.now, as: test.owner)
        for step in [0.0, -3_600, 7_200] {
            test.clock.advance(by: step)
            let service = try await TestOrganisation(
                storage: test.storage, keyStore: test.keyStore, clock: test.clock
            ).service
            #expect(try await !service.devices.keySet(of: Self.tenant).keys.contains(leaked))
        }
        let lines = try await test.export()
        let seal = try MessageCoding.decode(AuditSeal.self, from: Data(try #require(lines.last).utf8))
        #expect(!seal.keys.keys.contains(leaked))
        var verifier = AuditLogVerifier(pin: try await root(test))
        for line in lines { verifier.read(line) }
        #expect(verifier.report().isSound)
        #expect(verifier.report().isPinned)
    }

    @Test func `a store of the version before gets a key for its audit log, and its checkpoints stay good`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let pin = try await root(test)
        // As the version before left it: checkpoints by the envelope key, no audit key, no delegation.
        let known = try await test.service.administration.signingKeys(as: test.owner)
        let envelope = try #require(known.first { $0.role == .envelope })
        let signer = try test.keyStore.key(envelope.id, of: Self.tenant)
        let last = try #require(try await test.records().last)
        let checkpoint = try AuditCheckpoint(
            of: last, tenant: Self.tenant, time: last.time
        ).signed(by: signer)
        let audit = try #require(known.first { $0.role == .audit })
        let now = test.clock.now
        try await test.storage.write(Self.tenant) { transaction in
            try transaction.remove(ServiceSigningKey.self, audit.id)
            try transaction.append(
                AuditRecord(
                    after: last, tenant: Self.tenant, time: Int64(now.timeIntervalSince1970),
                    actor: .init(.administrator, id: "owner-1"), action: "audit.export", target: "audit",
                    details: ["checkpoint": checkpoint, "records": String(last.sequence)]))
        }
        test.clock.advance(by: 3_600)
        let again = try await TestOrganisation(storage: test.storage, keyStore: test.keyStore, clock: test.clock)
        #expect(try await root(again) == pin)
        var verifier = AuditLogVerifier(pin: pin)
        for line in try await again.export() { verifier.read(line) }
        #expect(verifier.report().isSound, "\(verifier.report().faults)")
    }
}
