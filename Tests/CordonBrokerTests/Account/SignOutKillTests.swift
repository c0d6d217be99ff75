import CordonBase
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Logging
import Testing

@testable import CordonBroker

/// A sign-out that is killed at any step is finished by the next start (SI-053).
@Suite(.timeLimit(.minutes(10))) struct SignOutKillTests {
    /// As many moments as a sign-out has, and some more: before and after each call of the secret store, and between overwriting and
    /// removing.
    @Test(arguments: 1...27)
    func `killed at any of its steps, a sign-out leaves the session whole or nothing of it`(step: Int) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            try await SignOutKillTests.signOut(in: URL(filePath: path), dyingAt: step)
        }
        let stand = try BrokerStand()
        let again = try await stand.broker(folder: folder)
        let notes = try await BrokerApp("notes", at: again)
        let now = try await notes.current()
        let tokens = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "tokens").path)
        let secrets = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "secrets").path)
        let left =
            tokens.filter { $0.hasSuffix(".session") || $0.hasSuffix(".changing") }
            + secrets.filter { name in ["session-", "account-", "broker-seed-"].contains { name.hasPrefix($0) } }
        // The administrator who joined the device has a mark, too.
        let marks = tokens.count { $0.hasSuffix(".signed-out") }
        if now.current != nil {
            #expect(step == 1, "the sign-out did not begin: the same session goes on")
            #expect(left.count == 5 && marks == 1, "\(left)")
        } else {
            #expect(left.isEmpty && marks == 2, "\(step): \(left)")
            #expect(now.owed.count == 1, "\(step)")
        }
    }

    /// Signs a person in and out, and dies at a moment of the sign-out.
    fileprivate static func signOut(in folder: URL, dyingAt step: Int) async throws {
        let stand = try BrokerStand()
        let keys = folder.appending(path: "secrets")
        let secrets = FatalSecretStore(try FileSecretStore(directory: keys), in: keys)
        let broker = try await Broker(
            stand.configuration, folder: folder, secrets: secrets, transport: stand.provider.transport,
            environment: stand.time.environment, user: BrokerStand.user,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let administrator = try await BrokerApp("joiner", at: broker, user: BrokerStand.user)
        _ = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        await administrator.leave()
        await broker.deliver()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        await stand.provider.setFaults([.unreachable])
        secrets.left.withLock { $0 = step }
        _ = await notes.ask(.accountSignOut)
        // The sign-out has fewer moments than that: it is whole.
        secrets.die()
    }
}

/// A secret store that ends the process at a moment of a call, however many moments are left.
private final class FatalSecretStore: SecretStore {
    private let inner: FileSecretStore
    private let folder: URL
    let left = Locked(Int.max)

    init(_ inner: FileSecretStore, in folder: URL) {
        self.inner = inner
        self.folder = folder
    }

    var isHardwareBacked: Bool { false }

    func secret(named name: String) throws(SignInError) -> Data? { try inner.secret(named: name) }

    func keep(_ secret: Data, named name: String) throws(SignInError) {
        step()
        try inner.keep(secret, named: name)
        step()
    }

    func destroy(named name: String) throws(SignInError) {
        step()
        DurableFile.overwrite(folder.appending(path: name + ".key"))
        step()
        try inner.destroy(named: name)
        step()
    }

    private func step() {
        let isOver = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isOver { die() }
    }

    func die() {
        kill(getpid(), SIGKILL)
        while true { pause() }
    }
}
