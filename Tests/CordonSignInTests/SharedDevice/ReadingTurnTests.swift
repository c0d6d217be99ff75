import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTesting
import Foundation
import Testing

@testable import CordonSignIn

/// Callers that read their own answers, beside the connection's thread.
@Suite(.timeLimit(.minutes(10))) struct ReadingTurnTests {
    @Test func `a caller reads only where the thread left the connection to callers, and one at a time`() {
        let turn = ReadingTurn()
        #expect(!turn.takeForCaller())
        turn.takeForThread()
        #expect(!turn.takeForCaller())
        turn.give(leaving: false)
        #expect(!turn.takeForCaller())
        turn.takeForThread()
        turn.give(leaving: true)
        // The machine may stall for longer than callers have.
        guard turn.takeForCaller() else { return }
        #expect(!turn.takeForCaller())
        // Another answer is waited for meanwhile: the thread reads next, whatever the caller says.
        turn.recallThread()
        turn.give(leaving: true)
        #expect(!turn.takeForCaller())
        turn.takeForThread()
    }

    /// Waits on a thread of its own for the turn, which must come by a ring: the time of callers does not end within the test.
    private func threadTakes(
        _ turn: ReadingTurn, after change: @escaping @Sendable () async throws -> Void
    ) async throws {
        let isTaken = Locked(false)
        Thread.detachNewThread {
            turn.takeForThread()
            isTaken.withLock { $0 = true }
        }
        try await Task.sleep(for: .milliseconds(20))
        #expect(!isTaken.withLock { $0 })
        try await change()
        try await until { isTaken.withLock { $0 } }
    }

    @Test func `a thread that rests reads as soon as it is wanted, and not before a caller has`() async throws {
        let turn = ReadingTurn(pause: .seconds(86_400))
        turn.takeForThread()
        turn.give(leaving: true)
        try await threadTakes(turn) { turn.recallThread() }
        turn.give(leaving: true)
        #expect(turn.takeForCaller())
        try await threadTakes(turn) {
            turn.recallThread()
            try await Task.sleep(for: .milliseconds(20))
            #expect(!turn.takeForCaller())
            turn.give(leaving: true)
        }
        // A caller whose answer did not come.
        turn.give(leaving: true)
        #expect(turn.takeForCaller())
        try await threadTakes(turn) { turn.give(leaving: false) }
        // Recalled before it rests, it does not rest at all; the ring that is left over gives it no later turn.
        turn.give(leaving: true)
        turn.recallThread()
        turn.takeForThread()
        turn.give(leaving: true)
        try await threadTakes(turn) { turn.recallThread() }
    }

    /// A broker that answers with a device whose session is the number of the question, and says more after each answer.
    private func broker(_ more: @escaping @Sendable (Data, Int) -> [Data] = { answer, _ in [answer] }) throws
        -> SilentBroker
    {
        try SilentBroker { request, before in
            let answer: BrokerMessage
            switch BrokerVerb(rawValue: request.verb) {
            case .eventsSubscribe: answer = BrokerMessage(Done(), to: SubscribeCall.self, id: request.id)
            case .deviceInfo:
                let device = DeviceInformation(
                    mode: .shared, missing: [], registration: nil, brokerVersion: "1", protocolVersion: 2,
                    session: UInt64(before), warnings: [], preferredAuthenticationMethod: nil)
                answer = BrokerMessage(device, to: DeviceInfoCall.self, id: request.id)
            case .accountCurrent:
                answer = BrokerMessage(
                    CurrentAccount(current: nil, previous: nil, owed: [], session: UInt64(before)),
                    to: CurrentAccountCall.self, id: request.id)
            default: return []
            }
            guard let payload = answer.payload else { return [] }
            return more(BrokerFrame.encode(payload), before)
        }
    }

    private func app(_ broker: SilentBroker) throws -> SharedDeviceMode {
        try SharedDeviceMode(socket: broker.path, clientID: "app", isDevelopment: true) { _ in .seconds(60) }
    }

    @Test func `every one of many callers gets its own answer`() async throws {
        let broker = try broker()
        defer { broker.stop() }
        let device = try app(broker)
        let sessions = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for caller in 0..<8 {
                group.addTask {
                    var sessions: [UInt64] = []
                    for round in 0..<50 {
                        sessions.append(try await device.deviceInformation().session)
                        // Some ask for what the thread reads in between.
                        if (round + caller).isMultiple(of: 7) { _ = try await device.currentAccount() }
                    }
                    #expect(sessions == sessions.sorted())
                    return sessions
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(sessions.sorted() == Array(0..<400))
    }

    @Test func `events that come between short questions are heard, the last one too`() async throws {
        let broker = try broker { answer, before in
            let event = BrokerMessage.event(AccountEvent(.accountChanged, session: UInt64(1_000 + before)))
            return [answer] + [event.payload.map(BrokerFrame.encode)].compactMap(\.self)
        }
        defer { broker.stop() }
        let device = try app(broker)
        var events = device.events().makeAsyncIterator()
        _ = await device.hasBroker()
        try await until { broker.verbs.contains(BrokerVerb.eventsSubscribe.rawValue) }
        for _ in 0..<30 { _ = try await device.deviceInformation() }
        var heard: UInt64 = 0
        while heard < 1_029 { heard = try #require(await events.next()).session }
    }

    @Test func `a short question that is not answered ends like any other, and so does its cancelling`() async throws {
        let broker = try broker { answer, before in before < 20 ? [answer] : [] }
        defer { broker.stop() }
        let patience = Locked(Duration.seconds(60))
        let device = try SharedDeviceMode(socket: broker.path, clientID: "app", isDevelopment: true) { _ in
            patience.withLock { $0 }
        }
        for _ in 0..<20 { _ = try await device.deviceInformation() }
        patience.withLock { $0 = .milliseconds(300) }
        #expect(await failure { try await device.deviceInformation() }?.fault == .timedOut)
        let waiting = Task { try await device.deviceInformation() }
        waiting.cancel()
        #expect(await failure { try await waiting.value } != nil)
    }

    @Test(arguments: [[0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 1, 0x7B]] as [[UInt8]])
    func `nonsense in answer to a short question ends the connection at once`(bytes: [UInt8]) async throws {
        let broker = try broker { answer, before in before < 20 ? [answer] : [Data(bytes)] }
        defer { broker.stop() }
        let device = try app(broker)
        for _ in 0..<20 { _ = try await device.deviceInformation() }
        #expect(await failure { try await device.deviceInformation() }?.fault == .brokerMissing)
    }
}
