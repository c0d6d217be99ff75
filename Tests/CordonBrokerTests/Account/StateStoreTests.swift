import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Crypto
import Foundation
import Testing

@testable import CordonBroker

/// The broker's state on the disk, and what is left there of whom it no longer names.
@Suite struct StateStoreTests {
    /// Secrets in memory that remember every value that was ever kept, as freed blocks of a disk do, and may fail.
    private final class WatchedSecrets: SecretStore {
        let values = Locked<[String: Data]>([:])
        /// Every value of a name, those that were replaced too. What is destroyed is overwritten where it lies.
        let left = Locked<[String: [Data]]>([:])
        let stepsLeft = Locked(Int.max)

        var isHardwareBacked: Bool { false }

        private func step() throws(SignInError) {
            let isOver = stepsLeft.withLock { left in
                left -= 1
                return left < 0
            }
            if isOver { throw SignInError(.storage, .storeUnavailable, "killed") }
        }

        func secret(named name: String) throws(SignInError) -> Data? { values.withLock { $0[name] } }

        func keep(_ secret: Data, named name: String) throws(SignInError) {
            try step()
            values.withLock { $0[name] = secret }
            left.withLock { $0[name, default: []].append(secret) }
        }

        func destroy(named name: String) throws(SignInError) {
            try step()
            values.withLock { $0[name] = nil }
            left.withLock { _ = $0[name]?.popLast() }
        }
    }

    private func folder() throws -> URL {
        let folder = TemporaryFolder.newPath()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder
    }

    private func state(of person: AccountID?, session: UInt64) -> BrokerState {
        var state = BrokerState()
        state.session = session
        if let person { state.apps["notes"] = .init(name: "notes", clientID: "notes", lastSeen: person) }
        return state
    }

    /// Whether any of the secrets opens a version of the file.
    private func opens(_ file: Data, with secrets: [Data]) -> Bool {
        secrets.filter { $0.count == 32 || $0.count == 40 }.contains { secret in
            [17, 25].contains { length in
                guard let box = try? AES.GCM.SealedBox(combined: file.dropFirst(length)) else { return false }
                let key = SymmetricKey(data: secret.prefix(32))
                return (try? AES.GCM.open(box, using: key, authenticating: file.prefix(length))) != nil
            }
        }
    }

    @Test func `a state of many apps that never clean up opens again`() throws {
        let folder = try folder()
        defer { TemporaryFolder.remove(folder) }
        let store = BrokerStore(folder: folder, secrets: MemorySecretStore())
        var state = state(of: nil, session: 300)
        let owed = (1...256).map { session in
            CurrentAccount.OwedCleanUp(
                account: AccountID("b0a6e14d-2f3d-4c61-9e08-7c441bd263a9"), session: UInt64(session),
                reason: .signedOut,
                deadline: Date(timeIntervalSince1970: 1_800_000_000))
        }
        for number in 0..<200 {
            state.apps["app \(number)"] = .init(name: "app \(number)", clientID: "app", owed: owed)
        }
        try store.save(state, forgetting: false)
        let file = folder.appending(path: "broker.state")
        #expect(try Data(contentsOf: file).count > 4 << 20, "the control")
        let (found, problem) = try store.load()
        #expect(found == state && problem == nil)
    }

    @Test func `no key is written twice, and none that is left opens what the file said of a person who is forgotten`()
        throws
    {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let secrets = WatchedSecrets()
        var keeper = StateKeeper(BrokerState(), in: BrokerStore(folder: folder, secrets: secrets))
        let file = folder.appending(path: "broker.state")
        var earlier: [Data] = []
        for session in 1...3 {
            try keeper.commit(state(of: "ada", session: UInt64(session)))
            earlier.append(try Data(contentsOf: file))
        }
        let everything = { secrets.left.withLock { $0.values.flatMap(\.self) } }
        #expect(earlier.allSatisfy { opens($0, with: everything()) }, "the control: while she is named they open")
        try keeper.commit(state(of: "grace", session: 4))
        #expect(!earlier.contains { opens($0, with: everything()) })
        #expect(opens(try Data(contentsOf: file), with: everything()))
        for (name, values) in secrets.left.withLock({ $0 }) where !name.hasSuffix("-count") {
            #expect(values.count <= 1, "\(name)")
        }
        let again = try BrokerStore(folder: folder, secrets: secrets).load()
        #expect(again.state == keeper.current && again.problem == nil)
    }

    @Test func `a change of keys that is cut short anywhere leaves the old state or the new one`() throws {
        for steps in 0..<8 {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let secrets = WatchedSecrets()
            let store = BrokerStore(folder: folder, secrets: secrets)
            var keeper = StateKeeper(BrokerState(), in: store)
            try keeper.commit(state(of: "ada", session: 1))
            secrets.stepsLeft.withLock { $0 = steps }
            let isDone = (try? keeper.commit(state(of: nil, session: 2))) != nil
            secrets.stepsLeft.withLock { $0 = .max }
            let (found, problem) = try store.load()
            #expect(problem == nil && [1, 2].contains(found.session) && (!isDone || found.session == 2), "\(steps)")
            keeper = StateKeeper(found, in: store)
            try keeper.commit(state(of: nil, session: 3))
            #expect(try store.load().state.session == 3, "\(steps)")
            let keys = secrets.values.withLock { $0.keys.filter { $0.hasPrefix("broker-state-key") } }
            #expect(keys.count == 1, "\(steps): \(keys)")
        }
    }

    @Test(arguments: [true, false])
    func `a change of keys that fails twice, anywhere, leaves a state that opens and no key of before`(
        restarts: Bool
    ) throws {
        for (first, second) in (0..<8).flatMap({ first in (0..<8).map { (first, $0) } }) {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let secrets = WatchedSecrets()
            let store = BrokerStore(folder: folder, secrets: secrets)
            var keeper = StateKeeper(BrokerState(), in: store)
            try keeper.commit(state(of: "ada", session: 1))
            let named = try Data(contentsOf: folder.appending(path: "broker.state"))
            for (session, steps) in [(2, first), (3, second)] {
                secrets.stepsLeft.withLock { $0 = steps }
                try? keeper.commit(state(of: nil, session: UInt64(session)))
            }
            secrets.stepsLeft.withLock { $0 = .max }
            if restarts { #expect(try store.load().problem == nil, "\(first), \(second)") }
            try keeper.commit(state(of: nil, session: 4))
            let (found, problem) = try store.load()
            #expect(found.session == 4 && problem == nil, "\(first), \(second)")
            #expect(!opens(named, with: secrets.values.withLock { Array($0.values) }), "\(first), \(second)")
        }
    }

    @Test func `a change whose last step failed stays readable, also where the next finds the file unreadable`()
        throws
    {
        for steps in 0..<8 {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let secrets = WatchedSecrets()
            let store = BrokerStore(folder: folder, secrets: secrets)
            var keeper = StateKeeper(BrokerState(), in: store)
            try keeper.commit(state(of: "ada", session: 1))
            secrets.stepsLeft.withLock { $0 = steps }
            let isDone = (try? keeper.commit(state(of: nil, session: 2))) != nil
            secrets.stepsLeft.withLock { $0 = .max }
            // What is in the folder's place is no folder for now, while the secrets are there.
            let aside = folder.appendingPathExtension("aside")
            try FileManager.default.moveItem(at: folder, to: aside)
            try Data().write(to: folder)
            #expect(throws: SignInError.self, "\(steps)") { try keeper.commit(self.state(of: nil, session: 3)) }
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.moveItem(at: aside, to: folder)
            let (found, problem) = try store.load()
            #expect(problem == nil && [1, 2].contains(found.session) && (!isDone || found.session == 2), "\(steps)")
        }
    }

    @Test func `a file whose writing was cut short by a kill does not open when it is put back over a later one`()
        throws
    {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let secrets = WatchedSecrets()
        let store = BrokerStore(folder: folder, secrets: secrets)
        let file = folder.appending(path: "broker.state")
        var keeper = StateKeeper(BrokerState(), in: store)
        try keeper.commit(state(of: "ada", session: 1))
        // The file is written, its revision is not.
        secrets.stepsLeft.withLock { $0 = 1 }
        #expect(throws: SignInError.self) { try keeper.commit(state(of: "ada", session: 2)) }
        secrets.stepsLeft.withLock { $0 = .max }
        let cut = try Data(contentsOf: file)
        keeper = StateKeeper(try store.load().state, in: store)
        #expect(keeper.current.session == 2)
        try keeper.commit(state(of: "ada", session: 3))
        try cut.write(to: file)
        #expect(try store.load().problem == "the broker's state is an old copy")
    }

    @Test func `a state of format 1 is opened, and its key goes with the next change`() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let secrets = WatchedSecrets()
        let key = SymmetricKey(size: .bits256)
        let revision = Data([0, 0, 0, 0, 0, 0, 0, 9])
        try secrets.keep(key.withUnsafeBytes { Data($0) } + revision, named: "broker-state")
        let head = Data("CRDNBRKR".utf8) + [1] + revision
        let sealed = try AES.GCM.seal(
            try MessageCoding.encode(state(of: "ada", session: 7)), using: key, authenticating: head)
        let old = head + (try #require(sealed.combined))
        try old.write(to: folder.appending(path: "broker.state"))
        let store = BrokerStore(folder: folder, secrets: secrets)
        let (found, problem) = try store.load()
        #expect(found.session == 7 && problem == nil)
        var keeper = StateKeeper(found, in: store)
        try keeper.commit(state(of: "ada", session: 8))
        #expect(try store.load().state.session == 8)
        #expect(try secrets.secret(named: "broker-state") == nil)
        #expect(!opens(old, with: secrets.left.withLock { $0.values.flatMap(\.self) }))
        // The old file, put back.
        try old.write(to: folder.appending(path: "broker.state"))
        #expect(try store.load().problem != nil)
    }
}
