import CordonBase
import CordonIdentity
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// What a disk kept of sessions that have ended is removed as soon as that can be (SI-053, SI-027).
@Suite struct LeftSecretTests {
    @Test(arguments: [true, false])
    func `what a sign-out could not destroy is destroyed by the next start, too`(saysSo: Bool) async throws {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        let seed = "broker-seed-\(session)"
        secrets.clings.withLock { $0 = (seed, saysSo) }
        #expect(await notes.ask(.accountSignOut).signOut?.keyDestroyed == false)
        _ = await notes.report(.done, of: session)
        await broker.flush()
        if !saysSo {
            let started = try await stand.broker(secrets: secrets)
            #expect(secrets.names.contains(seed), "the control")
            secrets.clings.withLock { $0 = nil }
            await started.tick()
            #expect(!secrets.names.contains(seed))
            return
        }
        secrets.clings.withLock { $0 = nil }
        #expect(secrets.names.contains(seed), "the control: no tick has come")
        let again = try await stand.broker(secrets: secrets)
        #expect(!secrets.names.contains(seed))
        #expect(try await BrokerApp("notes", at: again).current().current == nil)
    }

    @Test func `a secret that its store let stand without a word is tried again, and keeps nobody from signing in`()
        async throws
    {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let first = try await notes.signIn(.worker, at: stand.provider).session
        let seed = "broker-seed-\(first)"
        secrets.clings.withLock { $0 = (seed, false) }
        #expect(await notes.ask(.accountSignOut).signOut?.keyDestroyed == false)
        _ = await notes.report(.done, of: first)
        let second = try await notes.signIn(.otherWorker, at: stand.provider).session
        await broker.tick()
        #expect(secrets.names.contains(seed), "the control")
        secrets.clings.withLock { $0 = nil }
        await broker.tick()
        #expect(!secrets.names.contains(seed))
        #expect(secrets.names.contains("broker-seed-\(second)"), "of the session in force nothing is removed")
    }

    @Test func `a secret that was let stand is destroyed by the next start also where others signed in and out since`()
        async throws
    {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let first = try await notes.signIn(.worker, at: stand.provider).session
        let seed = "broker-seed-\(first)"
        secrets.clings.withLock { $0 = (seed, false) }
        #expect(await notes.ask(.accountSignOut).signOut?.keyDestroyed == false)
        _ = await notes.report(.done, of: first)
        for _ in 0..<3 {
            let session = try await notes.signIn(.otherWorker, at: stand.provider).session
            #expect(await notes.ask(.accountSignOut).signOut?.keyDestroyed == true)
            _ = await notes.report(.done, of: session)
        }
        await broker.flush()
        secrets.clings.withLock { $0 = nil }
        #expect(secrets.names.contains(seed), "the control: no tick has come")
        _ = try await stand.broker(secrets: secrets)
        #expect(!secrets.names.contains(seed))
    }

    @Test func `a device does not leave while anything of its last session cannot be removed`() async throws {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let administrator = try await BrokerApp("joiner", at: broker, user: BrokerStand.user)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        let seed = "broker-seed-\(session)"
        secrets.clings.withLock { $0 = (seed, true) }
        let refused = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(refused.error?.code == "storage")
        #expect(try await notes.current().current == nil)
        #expect(secrets.names.contains(seed), "the control")
        secrets.clings.withLock { $0 = nil }
        let left = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(left.error == nil)
        #expect(!secrets.names.contains(seed))
        #expect(await broker.state.registration == nil)
    }
}
