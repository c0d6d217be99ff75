import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Logging
import Testing

@testable import CordonBroker

/// A disk or a network that fails for a while ends no session, gives nothing away, and holds up no sign-out.
@Suite(.timeLimit(.minutes(10))) struct StorageTests {
    /// Runs the body while a file is a folder instead, which opens and then refuses to be read, as on a failing disk.
    private func unreadable(_ file: URL, _ body: () async throws -> Void) async throws {
        let aside = file.appendingPathExtension("aside")
        try FileManager.default.moveItem(at: file, to: aside)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try await body()
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: aside, to: file)
    }

    @Test func `a state or session that cannot be read at the start ends nothing`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        var notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let key = try #require(await notes.ask(.accountKey).key)
        let secrets = stand.folder.appending(path: "secrets")
        let sessions = try FileManager.default.contentsOfDirectory(at: secrets, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("session-") }
        for file in [stand.folder.appending(path: "broker.state"), try #require(sessions.first)] {
            try await unreadable(file) {
                let error = await #expect(throws: ProgramError.self) { _ = try await stand.broker() }
                #expect(error?.code == .fileUnusable)
            }
        }
        notes = try await BrokerApp("notes", at: try await stand.broker())
        #expect(try await notes.current().current != nil)
        #expect(await notes.ask(.accountKey).key == key)
    }

    @Test func `an app whose clean-up cannot be written down gets neither key nor token`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        // Where the next state is to be written lies a folder.
        let unfinished = stand.folder.appending(path: ".broker.state.new")
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: false)
        #expect(await board.ask(.accountKey).key == nil)
        #expect(await board.silent(.worker).token == nil)
        try FileManager.default.removeItem(at: unfinished)
        #expect(await board.ask(.accountKey).key != nil)
        _ = await notes.ask(.accountSignOut)
        #expect(try await board.current().owed.count == 1)
    }

    @Test func `a provider that never answers holds up no automatic sign-out`() async throws {
        let stand = try BrokerStand { $0.maximumIdle = .seconds(600) }
        let held = HeldTransport(stand.provider.transport, path: "/revoke")
        let broker = try await stand.joinedBroker(transport: held)
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        await held.hold()
        _ = await notes.ask(.accountSignOut)
        await held.waitForHeldAnswer()
        _ = await notes.report(.done, of: token.session)
        try await notes.signIn(.otherWorker, at: stand.provider)
        let keeper = Task { await broker.keepTime() }
        stand.time.advance(.seconds(601))
        try await until {
            stand.time.advance(.seconds(1))
            return try await notes.current().current == nil
        }
        keeper.cancel()
        await held.release()
        await keeper.value
    }

    @Test func `tokens that could not be read at a sign-out are revoked once they can`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        try await unreadable(stand.folder.appending(path: "tokens/store.lock")) {
            let report = try #require(await notes.ask(.accountSignOut).signOut)
            #expect(report.revocation == RevocationOutcome.notKept.rawValue)
            _ = await notes.report(.done, of: session)
            #expect(try await notes.current().current == nil)
        }
        try await until {
            stand.time.advance(.seconds(61))
            await broker.tick()
            return await stand.provider.liveRefreshTokens == 0
        }
        #expect(try await broker.client.storedAccounts().isEmpty)
    }

    @Test func `tokens of a sign-in that begins no session are removed once the disk lets them go`() async throws {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        secrets.clings.withLock { $0 = ("session-", true) }
        let refused = await notes.attended(.tokenInteractive, as: .stranger, at: stand.provider)
        #expect(refused.error?.code == "storage")
        await broker.tick()
        #expect(secrets.names.contains { $0.hasPrefix("session-") }, "the control")
        secrets.clings.withLock { $0 = nil }
        await broker.tick()
        #expect(!secrets.names.contains { $0.hasPrefix("session-") })
        #expect(try await notes.signIn(.worker, at: stand.provider).session == broker.state.session)
    }

    @Test func `a session that cannot be removed again and again keeps one revocation`() async throws {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        await broker.deliver()
        await stand.provider.setFaults([.unreachable])
        secrets.clings.withLock { $0 = ("session-", true) }
        _ = await notes.ask(.accountSignOut)
        _ = await notes.report(.done, of: session)
        for _ in 0..<10 { await broker.tick() }
        #expect(secrets.names.count { $0.hasPrefix("revocation-") } == 1)
    }

    @Test(.enabled(if: geteuid() == 0)) func `a socket's folder that belongs to another user is refused`() async throws
    {
        let stand = try BrokerStand()
        let folder = stand.folder.appending(path: "run")
        let broker = try await stand.broker()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755, .ownerAccountID: 12_345])
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: folder.path)
        let server = BrokerServer(
            broker, socket: folder.appending(path: "s").path,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let run = Task { () -> ProgramError? in
            do throws(ProgramError) {
                try await server.run {}
                return nil
            } catch { return error }
        }
        // One that would listen after all is stopped by this.
        run.cancel()
        #expect(await run.value?.reason == "the socket's folder belongs to another user")
    }

    @Test func `a session beside the device's own is ended at the start, and neither of two is picked`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        _ = try await broker.client.signIn(
            SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource),
            browser: stand.provider.browser(signingInAs: .otherWorker))
        #expect(try await broker.client.storedAccounts().count == 2)
        let again = try await stand.broker()
        #expect(try await again.client.storedAccounts() == [FakePerson.worker.account])
        let app = try await BrokerApp("notes", at: again)
        #expect(await app.ask(.accountList).accounts?.map(\.id) == [FakePerson.worker.account])
    }
}
