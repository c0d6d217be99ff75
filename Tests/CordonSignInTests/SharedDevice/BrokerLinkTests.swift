import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonSignIn

/// How an app waits for a broker that does not answer, or hangs up.
@Suite(.timeLimit(.minutes(10))) struct BrokerLinkTests {
    /// A link that waits a minute for what the broker answers: the machine may stall.
    private func link(_ broker: SilentBroker) -> BrokerLink {
        BrokerLink(path: broker.path, clientID: "app", trust: .development, deadline: Self.patience) { _ in }
    }

    private static let patience: @Sendable (BrokerVerb) -> Duration = { max($0.deadline, .seconds(60)) }

    /// An app whose questions about the state may take that long, and everything else a minute.
    private func app(
        _ broker: SilentBroker, state: Duration, rest: Duration = .milliseconds(250)
    ) throws -> SharedDeviceMode {
        try SharedDeviceMode(
            socket: broker.path, clientID: "app", isDevelopment: true,
            deadline: { [.deviceInfo, .accountCurrent].contains($0) ? state : Self.patience($0) }, rest: rest)
    }

    @Test func `a request whose task was cancelled before does not wait for the broker, and asks it nothing`()
        async throws
    {
        let broker = try SilentBroker()
        defer { broker.stop() }
        let link = link(broker)
        _ = try await link.connected()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await link.call(SignInCall())
        }
        #expect(await failure { try await task.value }?.code == .cancelled)
        #expect(!broker.verbs.contains(BrokerVerb.tokenInteractive.rawValue))
    }

    @Test func `a task cancelled at any moment of a request stops waiting`() async throws {
        let broker = try SilentBroker()
        defer { broker.stop() }
        let link = link(broker)
        for turns in 0..<40 {
            let task = Task { try await link.call(SignInCall()) }
            for _ in 0..<turns { await Task.yield() }
            task.cancel()
            #expect(await failure { try await task.value }?.code == .cancelled)
        }
    }

    @Test(arguments: [ReturnCall(request: 1, url: nil), CancelCall(request: 1)] as [any BrokerCall])
    func `what names an earlier request is not repeated over another connection`(call: any BrokerCall) async throws {
        let verb = type(of: call).verb
        let broker = try SilentBroker(hangingUpAt: verb)
        defer { broker.stop() }
        #expect(await failure { try await ask(call, over: link(broker)) }?.fault == .brokerMissing)
        #expect(broker.verbs == ["hello", verb.rawValue])
    }

    @Test func `what comes of a page is told over the connection that asked for it, and over no later one`()
        async throws
    {
        let page = BrokerProgress(page: try #require(URL(string: "https://id.contoso.example/authorize")))
        let broker = try SilentBroker { request, before in
            guard request.verb == BrokerVerb.tokenInteractive.rawValue,
                let step = try? MessageCoding.encode(BrokerMessage.progress(id: request.id, page))
            else { return [] }
            // The first connection ends at a length that cannot be, as it does where the broker is killed.
            return [BrokerFrame.encode(step)] + (before == 0 ? [Data([0xFF, 0xFF, 0xFF, 0xFF])] : [])
        }
        defer { broker.stop() }
        let link = link(broker)
        let pages = Locked<[AskedRequest]>([])
        @Sendable func signIn() async throws(SignInError) {
            _ = try await link.call(SignInCall()) { _, request in pages.withLock { $0.append(request) } }
        }
        #expect(await failure { try await signIn() }?.fault == .brokerMissing)
        let second = Task { try await signIn() }
        try await until { pages.withLock { $0.count } == 2 }
        let (first, later) = pages.withLock { ($0[0], $0[1]) }
        #expect(first.id == later.id, "the control: each connection numbers its requests alike")
        await first.tell { CancelCall(request: $0) }
        #expect(!broker.verbs.contains(BrokerVerb.tokenCancel.rawValue))
        second.cancel()
        #expect(await failure { try await second.value }?.code == .cancelled)
        try await until { broker.verbs.contains(BrokerVerb.tokenCancel.rawValue) }
    }

    private func ask(_ call: some BrokerCall, over link: BrokerLink) async throws(SignInError) {
        _ = try await link.call(call)
    }

    @Test func `who listens hears events again, however often the broker hangs up, and connects every 50 ms at most`()
        async throws
    {
        let rounds = 10
        let event = try event(.accountChanged, 7)
        let broker = try SilentBroker(hangingUpAfterSubscriptions: rounds) { request, before in
            let answer = BrokerMessage(Done(), to: SubscribeCall.self, id: request.id)
            guard request.verb == BrokerVerb.eventsSubscribe.rawValue, let payload = try? MessageCoding.encode(answer)
            else { return [] }
            return [BrokerFrame.encode(payload)] + (before < rounds ? [] : [event])
        }
        defer { broker.stop() }
        let heard = Locked(false)
        let link = BrokerLink(path: broker.path, clientID: "app", trust: .development, deadline: Self.patience) {
            if $0.kind == .accountChanged { heard.withLock { $0 = true } }
        }
        let began = ContinuousClock.now
        await link.subscribe()
        try await until { heard.withLock { $0 } }
        let greetings = broker.verbs.count { $0 == BrokerVerb.hello.rawValue }
        #expect(Double(greetings) <= 2 + (ContinuousClock.now - began) / .milliseconds(50))
    }

    @Test func `a question about the state is asked once more over a new connection`() async throws {
        let broker = try SilentBroker(hangingUpAt: .accountCurrent)
        defer { broker.stop() }
        #expect(await failure { try await link(broker).call(CurrentAccountCall()) }?.fault == .brokerMissing)
        #expect(broker.verbs == ["hello", "account.current", "hello", "account.current"])
    }

    @Test func `a state is waited for two seconds, a silent token thirty, a person ten minutes`() {
        for verb in BrokerVerb.allCases {
            let limit: Duration =
                switch verb {
                case .tokenSilent: .seconds(30)
                case .tokenInteractive, .tokenDevice, .deviceJoin, .deviceLeave, .accountSignOut: .seconds(600)
                default: .seconds(2)
                }
            #expect(verb.deadline == limit && verb.isAboutState == (limit == .seconds(2)), "\(verb)")
            #expect(verb.isAttended == (limit == .seconds(600)), "\(verb)")
        }
    }

    @Test func `a broker that never answers is given up when its time is over, and that is not personal mode`()
        async throws
    {
        let broker = try SilentBroker()
        defer { broker.stop() }
        let device = try app(broker, state: .milliseconds(200))
        let other = try app(broker, state: .seconds(60))
        let waiting = Task { try await other.deviceInformation() }
        try await until { !broker.verbs.filter { $0 == BrokerVerb.deviceInfo.rawValue }.isEmpty }
        let began = ContinuousClock.now
        let error = await failure { try await device.deviceInformation() }
        #expect(error?.code == .brokerUnavailable && error?.fault == .timedOut)
        #expect(ContinuousClock.now - began >= .milliseconds(200))
        // A caller that may wait longer still does, so it was this one's time that ended it.
        waiting.cancel()
        #expect(await failure { try await waiting.value }?.code == .cancelled)
    }

    @Test func `a length that cannot be ends the connection at once`() async throws {
        let broker = try SilentBroker { request, _ in
            request.verb == BrokerVerb.deviceInfo.rawValue ? [Data([0xFF, 0xFF, 0xFF, 0xFF])] : []
        }
        defer { broker.stop() }
        let device = try app(broker, state: .seconds(60))
        #expect(await failure { try await device.deviceInformation() }?.fault == .brokerMissing)
    }

    @Test func `an app that follows asks again by itself when the broker was silent once`() async throws {
        // Silence is long enough to be given up soon; an answer may take as long as the machine does.
        let patience = Locked(Duration.milliseconds(200))
        let broker = try SilentBroker { request, before in
            let answer: BrokerMessage
            switch BrokerVerb(rawValue: request.verb) {
            case .eventsSubscribe: answer = BrokerMessage(Done(), to: SubscribeCall.self, id: request.id)
            case .accountCurrent where before > 0:
                answer = BrokerMessage(
                    CurrentAccount(current: nil, previous: nil, owed: [], session: 7), to: CurrentAccountCall.self,
                    id: request.id)
            case .accountCurrent:
                patience.withLock { $0 = .seconds(60) }
                return []
            default: return []
            }
            guard let payload = try? MessageCoding.encode(answer) else { return [] }
            return [BrokerFrame.encode(payload)]
        }
        defer { broker.stop() }
        let device = try SharedDeviceMode(socket: broker.path, clientID: "app", isDevelopment: true) {
            $0 == .accountCurrent ? patience.withLock { $0 } : Self.patience($0)
        }
        var changes = device.accountChanges().makeAsyncIterator()
        #expect(await changes.next()?.session == 7)
    }

    /// A broker that answers questions about the account and the device, and says more after each answer.
    private func talkative(
        _ more: @escaping @Sendable (Data, Int) -> [Data]
    ) throws -> SilentBroker {
        try SilentBroker { request, before in
            let answer: BrokerMessage
            switch BrokerVerb(rawValue: request.verb) {
            case .eventsSubscribe: answer = BrokerMessage(Done(), to: SubscribeCall.self, id: request.id)
            case .accountCurrent:
                answer = BrokerMessage(
                    CurrentAccount(current: nil, previous: nil, owed: [], session: UInt64(7 + before)),
                    to: CurrentAccountCall.self, id: request.id)
            case .deviceInfo:
                let device = DeviceInformation(
                    mode: .shared, missing: [], registration: nil, brokerVersion: "1", protocolVersion: 2, session: 7,
                    warnings: [.softwareKey], preferredAuthenticationMethod: "qrpin")
                answer = BrokerMessage(device, to: DeviceInfoCall.self, id: request.id)
            default: return []
            }
            guard let payload = try? MessageCoding.encode(answer) else { return [] }
            return more(BrokerFrame.encode(payload), before)
        }
    }

    @Test func `events without end are one question for each quarter of a second`() async throws {
        let forged = try MessageCoding.encode(BrokerMessage.event(AccountEvent(.globalSignOut, session: 7)))
        let burst = Array(repeating: BrokerFrame.encode(forged), count: 50)
        // Every answer is followed by new events, as from a broker that would have apps ask for ever.
        let broker = try talkative { answer, _ in [answer] + burst }
        defer { broker.stop() }
        let device = try app(broker, state: .seconds(60))
        // From before the first question: the app asks on while this test may not run.
        let began = ContinuousClock.now
        var changes = device.accountChanges().makeAsyncIterator()
        for _ in 0..<5 { #expect(await changes.next() != nil) }
        #expect(ContinuousClock.now - began >= .milliseconds(900))
        let questions = broker.verbs.count { $0 == BrokerVerb.accountCurrent.rawValue }
        #expect(Double(questions) <= 2 + (ContinuousClock.now - began) / .milliseconds(225))
    }

    private func event(_ kind: AccountEvent.Kind, _ session: UInt64) throws -> Data {
        BrokerFrame.encode(try MessageCoding.encode(BrokerMessage.event(AccountEvent(kind, session: session))))
    }

    @Test func `a sign-out right after another event does not wait until the app that follows has rested`() async throws
    {
        // The first answer has session 7, and the event of a sign-out comes right behind it.
        let signOut = try event(.globalSignOut, 8)
        let broker = try talkative { answer, before in before == 0 ? [answer, signOut] : [answer] }
        defer { broker.stop() }
        let device = try app(broker, state: .seconds(60), rest: .seconds(3_600))
        var changes = device.accountChanges().makeAsyncIterator()
        #expect(await changes.next()?.session == 7)
        #expect(await changes.next()?.session == 8)
    }

    @Test func `ever later sessions are two questions for each rest`() async throws {
        let forged = try (1...100).map { try event(.globalSignOut, 1_000 * UInt64($0)) }
        let broker = try talkative { answer, before in before < forged.count ? [answer, forged[before]] : [answer] }
        defer { broker.stop() }
        let device = try app(broker, state: .seconds(60), rest: .milliseconds(250))
        // From before the first question: the app asks on while this test may not run.
        let began = ContinuousClock.now
        var changes = device.accountChanges().makeAsyncIterator()
        for _ in 0..<7 { #expect(await changes.next() != nil) }
        #expect(ContinuousClock.now - began >= .milliseconds(650))
    }

    @Test(.seeded(as: 0)) func `an answer that was damaged at random ends every question with a value or an error`()
        async throws
    {
        let (rounds, seed) = (64, TestSeed.current)
        let broker = try talkative { answer, before in
            var dice = SeededGenerator(seed &+ UInt64(before))
            var bytes = answer
            for _ in 0..<Int.random(in: 0...3, using: &dice) where !bytes.isEmpty {
                let place = bytes.startIndex + Int.random(in: 0..<bytes.count, using: &dice)
                switch Int.random(in: 0..<3, using: &dice) {
                case 0: bytes[place] = .random(in: .min ... .max, using: &dice)
                case 1: bytes.remove(at: place)
                default: bytes.insert(.random(in: .min ... .max, using: &dice), at: place)
                }
            }
            return [bytes]
        }
        defer { broker.stop() }
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<rounds {
                let device = try app(broker, state: .seconds(1))
                group.addTask { await failure { try await device.deviceInformation() } == nil }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == rounds && outcomes.contains(true) && outcomes.contains(false))
    }
}
