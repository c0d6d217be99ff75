import CordonBase
import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Logging
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// The broker over a real socket: the library's client beside clients that flood, stall and lie (R17).
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct SocketTests {
    @Test func `sign in, work in two apps, sign out once, next worker`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let order = Locked<[String]>([])
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { cleanUp in
                await cleanUp.workStopped()
                order.withLock { $0.append("notes \(cleanUp.account)") }
                await cleanUp.dataCleared()
            }
            let board = try SharedDeviceMode.patient(at: socket, clientID: "board") { cleanUp in
                order.withLock { $0.append("board \(cleanUp.account)") }
            }
            let changes = board.accountChanges()
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next()?.current == nil)
            let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
            let signedIn = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            #expect(await iterator.next()?.current?.id == FakePerson.worker.account)
            #expect(try await board.accounts() == [signedIn.account])
            let key = try await notes.sessionKey(for: signedIn.account.id)
            #expect(key.count == 32)
            let token = try await board.accessToken(
                for: signedIn.account.id, resource: BrokerStand.resource, scopes: BrokerStand.scopes)
            #expect(token.isBound)
            let report = try await notes.signOut()
            #expect(report.keyDestroyed)
            #expect(report.apps.first { $0.clientID == "board" }?.outcome == .done)
            #expect(await iterator.next()?.current == nil)
            #expect(try await board.accounts().isEmpty)
            #expect(order.withLock { Set($0) } == ["notes oid-worker-a", "board oid-worker-a"])
            let next = try await board.signIn(request, browser: stand.provider.browser(signingInAs: .otherWorker))
            #expect(next.session > signedIn.session)
            #expect(try await notes.refresh().current?.id == FakePerson.otherWorker.account)
        }
    }

    @Test func `a handler that fails keeps the app locked until it succeeds`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let fails = Locked(true)
            struct Stuck: Error {}
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in
                if fails.withLock({ $0 }) { throw Stuck() }
            }
            let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
            _ = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            _ = try await notes.signOut()
            await #expect(throws: SignInError(.brokerRefused, .cleanUpOwed, "")) { try await notes.refresh() }
            await #expect(throws: SignInError(.brokerRefused, .cleanUpOwed, "")) {
                try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .otherWorker))
            }
            fails.withLock { $0 = false }
            #expect(try await notes.refresh().owed.isEmpty)
            _ = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .otherWorker))
        }
    }

    @Test func `forged events remove nothing, and a burst is a question or two`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let cleaned = Locked(0)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in cleaned.withLock { $0 += 1 }
            }
            let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
            _ = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            let values = Locked(0)
            let following = Task { for await _ in notes.accountChanges() { values.withLock { $0 += 1 } } }
            try await until { values.withLock({ $0 }) != 0 }
            for number in 0..<1_000 { notes.broadcast.post(AccountEvent(.globalSignOut, session: UInt64(number))) }
            for _ in 0..<20 { _ = try await notes.deviceInformation() }
            #expect(cleaned.withLock { $0 } == 0)
            #expect(values.withLock { $0 } == 1, "nothing changed, so nothing is told")
            #expect(try await notes.currentAccount().current?.id == FakePerson.worker.account)
            _ = try await notes.signOut()
            #expect(cleaned.withLock { $0 } == 1)
            following.cancel()
        }
    }

    @Test func `a thousand rapid switches are read without a stale answer`() async throws {
        let rounds = ProcessInfo.processInfo.environment["CORDON_DEEP"] == nil ? 40 : 1_000
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in }
            let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
            var session: UInt64 = 0
            for round in 0..<rounds {
                let person: FakePerson = round.isMultiple(of: 2) ? .worker : .otherWorker
                let signedIn = try await notes.signIn(
                    request, browser: stand.provider.browser(signingInAs: person))
                let now = try await notes.currentAccount()
                #expect(now.current?.id == person.account && signedIn.session > session)
                session = signedIn.session
                let report = try await notes.signOut()
                #expect(report.session > session)
                #expect(try await notes.currentAccount().current == nil)
            }
        }
    }

    @Test func `a client that floods, stalls or lies about lengths hurts no other client`() async throws {
        var limits = BrokerLimits.patient
        limits.greetingTime = .milliseconds(300)
        limits.frameTime = .milliseconds(300)
        limits.burst = 500
        limits.perSecond = 500
        try await ServedBroker.serve(limits) { socket, _ in
            let honest = try SharedDeviceMode.patient(at: socket, clientID: "notes")
            // Where the machine stalls, even an honest greeting can be late.
            try await until { (try? await honest.deviceInformation()) != nil }
            #expect(await honest.hasBroker())
            let calm = try await times(of: honest)
            let liar = try #require(BrokerSocket(path: socket, tick: .milliseconds(100)))
            #expect(liar.send(Data([0xFF, 0xFF, 0xFF, 0xFF, 0x7B])))
            #expect(try await ends(liar))
            let silent = try #require(BrokerSocket(path: socket, tick: .milliseconds(100)))
            #expect(try await ends(silent), "no client may stay without a hello")
            let halfway = try #require(BrokerSocket(path: socket, tick: .milliseconds(100)))
            #expect(halfway.send(Data([0, 0, 0, 50, 0x7B])))
            #expect(try await ends(halfway))
            let noise = try #require(BrokerSocket(path: socket, tick: .milliseconds(100)))
            #expect(noise.send(BrokerFrame.encode(Data("not json".utf8))))
            #expect(try await ends(noise), "an answer, and then the end of its time")
            // Requests without pause, none of whose answers is read.
            let flood = try #require(BrokerSocket(path: socket, tick: .milliseconds(100)))
            let hello = Data(#"{"id":1,"verb":"hello","versions":[1],"clientID":"flood"}"#.utf8)
            let question = Data(#"{"id":2,"verb":"device.info"}"#.utf8)
            #expect(flood.send(BrokerFrame.encode(hello)))
            let flooding = Thread {
                let burst = (0..<200).map { _ in BrokerFrame.encode(question) }.reduce(Data(), +)
                while flood.send(burst) {}
            }
            flooding.start()
            // The slowest few are left out, and what the machine itself takes is measured before: it may stall.
            let beside = try await times(of: honest)
            #expect(beside[180] < max(.milliseconds(500), calm[180] * 20), "\(beside[180]) instead of \(calm[180])")
            flood.end()
        }
    }

    @Test func `more connections than a user may have are turned away, and one that ends makes room`() async throws {
        var limits = BrokerLimits.patient
        limits.connectionsPerUser = 3
        limits.reservedPerProgram = 0
        try await ServedBroker.serve(limits) { socket, _ in
            var held: [SharedDeviceMode] = []
            for number in 0..<3 {
                let app = try SharedDeviceMode.patient(at: socket, clientID: "app-\(number)")
                _ = try await app.deviceInformation()
                held.append(app)
            }
            let fourth = try SharedDeviceMode.patient(at: socket, clientID: "fourth")
            await #expect(throws: SignInError(.brokerUnavailable, .brokerMissing, "")) {
                try await fourth.deviceInformation()
            }
            held.removeLast()
            try await until { (try? await fourth.deviceInformation()) != nil }
        }
    }

    @Test func `a program's identity is its file, its owner and the start of its process`() throws {
        let own = try #require(ProgramIdentity.now(getpid()))
        #expect(own.stillRuns(as: getpid()))
        #expect(!own.stillRuns(as: getppid()))
        #expect(ProgramIdentity.path(of: getpid()) == FileManager.default.resolved("/proc/self/exe"))
        #expect(ProgramIdentity.now(-1) == nil)
    }

    @Test func `what a stranger can cause is logged once a minute, on one line`() {
        var log = ThrottledLog()
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let said = [0, 59, 60].map { log.isDue("a", now: start + $0) }
        #expect(said == [true, false, true])
        let fresh = (0..<1_000).count { log.isDue("b\($0)", now: start + 61) }
        #expect(fresh < 100)
        #expect(ThrottledLog.plain("/tmp/x\nfake: line\u{1B}[2J\u{9B}") == #"/tmp/x\u{A}fake: line\u{1B}[2J\u{9B}"#)
    }

    @Test func `without a broker every question is an error and never personal mode`() async throws {
        let device = try SharedDeviceMode(socket: "/nowhere/broker.sock", clientID: "notes")
        let gone = SignInError(.brokerUnavailable, .brokerMissing, "")
        await #expect(throws: gone) { try await device.deviceInformation() }
        await #expect(throws: gone) { try await device.currentAccount() }
        await #expect(throws: gone) { try await device.signOut() }
        let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
        await #expect(throws: gone) {
            try await device.signIn(request, browser: .opening { _ in Issue.record("no page is shown") })
        }
        #expect(await !device.hasBroker())
        // Nothing local stands in for the broker (SI-114).
        await #expect(throws: gone) {
            try await device.accessToken(for: "a", resource: BrokerStand.resource, scopes: BrokerStand.scopes)
        }
        #expect(throws: SignInError(.configuration, .invalidParameter, "")) {
            try SharedDeviceMode(socket: "/x", clientID: "notes", supportsSeveralAccounts: true)
        }
    }

    /// How long each of 200 questions takes, the shortest first.
    private func times(of app: SharedDeviceMode) async throws -> [Duration] {
        var times: [Duration] = []
        for _ in 0..<200 {
            let began = ContinuousClock.now
            _ = try await app.deviceInformation()
            times.append(ContinuousClock.now - began)
        }
        return times.sorted()
    }

    /// Whether the other side ends the connection, by itself.
    private func ends(_ socket: BrokerSocket) async throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        try await until {
            if case .end = socket.receive(into: &buffer) { true } else { false }
        }
        return true
    }
}

extension FileManager {
    fileprivate func resolved(_ link: String) -> String? { try? destinationOfSymbolicLink(atPath: link) }
}
