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
        secrets.clings.withLock { $0 = nil }
        #expect(secrets.names.contains(seed), "the control: no tick has come")
        let again = try await stand.broker(secrets: secrets)
        #expect(!secrets.names.contains(seed))
        #expect(try await BrokerApp("notes", at: again).current().current == nil)
    }
}
