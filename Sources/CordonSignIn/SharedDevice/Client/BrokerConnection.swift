internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// One connection to the broker: any number of requests at once, matched to their answers, each with a deadline.
///
/// A thread of its own reads, so that no caller's work waits on a socket; it ends with the connection. A caller with a short
/// question that follows another one reads the answer itself, and waits at most a millisecond for it before it suspends.
final class BrokerConnection: Sendable {
    private struct Waiter: Sendable {
        let deadline: ContinuousClock.Instant
        let isShort: Bool
        let progress: (@Sendable (BrokerProgress) -> Void)?
        /// Reads the answer and says how to hand it over.
        let read: @Sendable (any Decoder) throws -> BrokerReply.Completion
        /// The same without a decoder; nil for what is left to one.
        let readShort: @Sendable (Data) -> BrokerReply.Completion?
        let fail: @Sendable (SignInError) -> Void
    }

    private struct State: Sendable {
        var lastID: UInt32 = 0
        var waiting: [UInt32: Waiter] = [:]
        var isClosed = false
        var nonce: String?
    }

    private let socket: BrokerSocket
    private let state = Locked(State())
    private let intake = Locked(Intake())
    private let turn = ReadingTurn()
    private let device = Locked(DeviceMemory())
    private let onEvent: @Sendable (AccountEvent) -> Void
    private let onClose: @Sendable () -> Void

    /// Connects.
    ///
    /// - Parameter trust: Whose broker is believed; nothing is sent to any other.
    /// - Throws: ``SignInError`` with code `brokerUnavailable` when nothing listens, or something other than the device's broker.
    init(
        path: String, trust: BrokerTrust, onEvent: @escaping @Sendable (AccountEvent) -> Void,
        onClose: @escaping @Sendable () -> Void
    ) throws(SignInError) {
        guard let socket = BrokerSocket(path: path, tick: .milliseconds(100)) else { throw Self.gone }
        try trust.check(socket.peerUser, at: path)
        self.socket = socket
        self.onEvent = onEvent
        self.onClose = onClose
        let thread = Thread { self.read() }
        thread.name = "cordon-broker-client"
        thread.start()
    }

    /// Whether the connection has ended.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Ends the connection; every waiting caller gets `brokerUnavailable`.
    func close() {
        socket.end()
    }

    /// Asks and waits; a cancelled task waits no longer, and asks nothing when it was cancelled before.
    ///
    /// - Throws: ``SignInError`` as the broker answered it; `brokerUnavailable` when it does not answer in time.
    func call<Call: BrokerCall>(
        _ call: Call, correlationID: UUID? = nil, within limit: Duration,
        progress: (@Sendable (BrokerProgress, UInt32) -> Void)? = nil
    ) async throws(SignInError) -> Call.Answer {
        guard !Task.isCancelled else { throw Self.stopped }
        let (id, nonce) = next()
        let request = BrokerRequest(call, id: id, correlationID: correlationID, nonce: nonce)
        let slot: AnswerSlot<Call.Answer>
        if Call.verb.isShort, turn.takeForCaller() {
            switch askHere(request, id: id, within: limit) {
            case .answered(let answer): return answer
            case .waiting(let open): slot = open
            }
            if let outcome = slot.outcome { return try outcome.get() }
        } else {
            slot = AnswerSlot()
            send(request, id: id, within: limit, progress: progress, finish: slot.finish)
        }
        return try await withTaskCancellationHandler {
            await slot.value()
        } onCancel: {
            cancel(id)
        }.get()
    }

    /// Asks and blocks the calling thread until the answer is there, for callers that cannot suspend.
    func callBlocking<Call: BrokerCall>(_ call: Call, within limit: Duration) throws(SignInError) -> Call.Answer {
        let answered = DispatchSemaphore(value: 0)
        let box = Locked<Result<Call.Answer, SignInError>?>(nil)
        let (id, nonce) = next()
        send(BrokerRequest(call, id: id, nonce: nonce), id: id, within: limit, progress: nil) { outcome in
            box.withLock { $0 = outcome }
            answered.signal()
        }
        answered.wait()
        guard let outcome = box.withLock({ $0 }) else { throw Self.gone }
        return try outcome.get()
    }

    /// What every request repeats from here on; nil for a broker of the first version.
    var nonce: String? {
        get { state.withLock { $0.nonce } }
        set { state.withLock { $0.nonce = newValue } }
    }

    /// The number of the next request, and what it repeats.
    private func next() -> (id: UInt32, nonce: String?) {
        state.withLock { state in
            state.lastID &+= 1
            return (state.lastID, state.nonce)
        }
    }

    private func send<Call: BrokerCall>(
        _ request: BrokerRequest<Call>, id: UInt32, within limit: Duration,
        progress: (@Sendable (BrokerProgress, UInt32) -> Void)?,
        finish: @escaping @Sendable (Result<Call.Answer, SignInError>) -> Void
    ) {
        guard let frame = Self.frame(of: request) else {
            finish(.failure(Self.tooLarge))
            return
        }
        guard expect(Call.self, id: id, within: limit, progress: progress, finish: finish) else { return }
        turn.recallThread()
        guard socket.send(frame) else {
            fail(id, Self.gone)
            socket.end()
            return
        }
    }

    /// The request as it is sent; nil where it is too large.
    private static func frame<Call: BrokerCall>(of request: BrokerRequest<Call>) -> Data? {
        guard let payload = request.payload, payload.count <= BrokerFrame.largestRequest else { return nil }
        return BrokerFrame.encode(payload)
    }

    /// Has the present reader hand over the answer to a request; false where the connection has ended, which `finish` is told.
    private func expect<Call: BrokerCall>(
        _ call: Call.Type, id: UInt32, within limit: Duration,
        progress: (@Sendable (BrokerProgress, UInt32) -> Void)?,
        finish: @escaping @Sendable (Result<Call.Answer, SignInError>) -> Void
    ) -> Bool {
        let told = progress.map { tell in { @Sendable (step: BrokerProgress) in tell(step, id) } }
        let device = self.device
        let waiter = Waiter(
            deadline: .now + limit, isShort: Call.verb.isShort, progress: told,
            read: { decoder in
                let outcome = try BrokerReply.answer(to: Call.self, from: decoder)
                return { finish(outcome) }
            },
            readShort: { payload in
                Self.shortAnswer(to: Call.self, in: payload, id: id, device).map { answer in
                    { finish(.success(answer)) }
                }
            }, fail: { finish(.failure($0)) })
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            state.waiting[id] = waiter
            return true
        }
        if !isOpen { finish(.failure(Self.gone)) }
        return isOpen
    }

    /// The answer to a short question, read without a decoder; nil for what is left to one.
    private static func shortAnswer<Call: BrokerCall>(
        to call: Call.Type, in payload: Data, id: UInt32, _ device: Locked<DeviceMemory>
    ) -> Call.Answer? {
        switch Call.verb {
        case .tokenSilent: ShortReply.token(in: payload, id: id) as? Call.Answer
        case .deviceInfo: device.withLock { $0.device(in: payload, id: id) } as? Call.Answer
        default: nil
        }
    }

    /// Tells the broker that no caller waits for a request any more.
    private func cancel(_ id: UInt32) {
        fail(id, Self.stopped)
        let (own, nonce) = next()
        send(
            BrokerRequest(CancelCall(request: id), id: own, nonce: nonce), id: own, within: .seconds(2), progress: nil
        ) { _ in }
    }

    private func fail(_ id: UInt32, _ error: SignInError) {
        let waiter = state.withLock { $0.waiting.removeValue(forKey: id) }
        waiter?.fail(error)
    }

    // MARK: Reading

    /// What has arrived and is not a whole frame yet; belongs to the reader whose turn it is.
    private struct Intake: Sendable {
        var reader = BrokerFrameReader(limit: BrokerFrame.largestAnswer)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        /// Whether nothing more can be believed, or comes.
        var isOver = false

        /// Takes bytes in; the payloads that are whole by now.
        mutating func take(_ bytes: ArraySlice<UInt8>) -> [Data] {
            var payloads: [Data] = []
            reader.append(bytes)
            // A length that makes no sense: nothing after it can be trusted.
            do {
                while let payload = try reader.next() { payloads.append(payload) }
            } catch { isOver = true }
            return payloads
        }
    }

    /// The thread.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var isOver = false
        while !isOver {
            turn.takeForThread()
            var wasShort = false
            switch socket.receive(into: &buffer) {
            case .end: isOver = true
            case .nothingYet: isOver = intake.withLock { $0.isOver }
            case .bytes(let bytes):
                let payloads = intake.withLock { $0.isOver ? [] : $0.take(bytes) }
                wasShort = deliver(payloads)
                isOver = intake.withLock { $0.isOver }
            }
            turn.give(leaving: wasShort && !isOver && state.withLock { $0.waiting.isEmpty })
            expire()
        }
        let left = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in left { waiter.fail(Self.gone) }
        socket.end()
        onClose()
    }

    /// How far a caller came that asked and read in the thread's place.
    private enum Asked<Answer: Sendable> {
        case answered(Answer)
        /// The answer is there in another form, or is waited for like any other.
        case waiting(AnswerSlot<Answer>)
    }

    /// Asks in the thread's place, which the caller has taken over, and reads for a millisecond at most.
    ///
    /// No other thread reads meanwhile. Only where what comes first is not the short answer to this question is a place made where the
    /// answer is waited for: that costs more than reading the answer.
    private func askHere<Call: BrokerCall>(
        _ request: BrokerRequest<Call>, id: UInt32, within limit: Duration
    ) -> Asked<Call.Answer> {
        let slot: AnswerSlot<Call.Answer>
        guard let frame = Self.frame(of: request) else {
            turn.give(leaving: false)
            slot = AnswerSlot()
            slot.finish(.failure(Self.tooLarge))
            return .waiting(slot)
        }
        let end = ContinuousClock.now + .milliseconds(1)
        let isSent = socket.send(frame)
        var payloads = isSent ? receiveHere() : []
        if payloads.count == 1, let answer = Self.shortAnswer(to: Call.self, in: payloads[0], id: id, device) {
            leave(isAnswered: true)
            return .answered(answer)
        }
        slot = AnswerSlot()
        _ = expect(Call.self, id: id, within: limit, progress: nil, finish: slot.finish)
        if !isSent { intake.withLock { $0.isOver = true } }
        _ = deliver(payloads)
        while slot.outcome == nil, !intake.withLock({ $0.isOver }), .now < end {
            payloads = receiveHere()
            _ = deliver(payloads)
        }
        leave(isAnswered: slot.outcome != nil)
        return .waiting(slot)
    }

    /// Gives the thread's place back: to callers for a while, where nothing is waited for that they would not read.
    private func leave(isAnswered: Bool) {
        let isOver = intake.withLock { $0.isOver }
        // The thread sees the end as well, and tells everything that waits.
        if isOver { socket.end() }
        turn.give(leaving: isAnswered && !isOver && state.withLock { $0.waiting.isEmpty })
    }

    /// What arrives soon, read in the thread's place.
    private func receiveHere() -> [Data] {
        intake.withLock { [socket] intake in
            switch socket.receiveSoon(into: &intake.buffer) {
            case .bytes(let bytes): return intake.take(bytes)
            case .nothingYet: return []
            case .end:
                intake.isOver = true
                return []
            }
        }
    }

    /// Hands answers and events over; whether the last of them answered a short question.
    private func deliver(_ payloads: [Data]) -> Bool {
        var wasShort = false
        for payload in payloads {
            let waiter = ShortReply.id(in: payload).flatMap { id in state.withLock { $0.waiting[id].map { (id, $0) } } }
            wasShort = waiter?.1.isShort ?? false
            if let (id, waiter) = waiter, waiter.isShort, let complete = waiter.readShort(payload) {
                if state.withLock({ $0.waiting.removeValue(forKey: id) }) != nil { complete() }
                continue
            }
            // Not an answer of the protocol: nothing after it can be trusted.
            guard
                let reply = try? BrokerReply.read(
                    payload, answers: { id in self.state.withLock { $0.waiting[id]?.read } })
            else {
                intake.withLock { $0.isOver = true }
                return false
            }
            deliver(reply)
        }
        return wasShort
    }

    private func deliver(_ reply: BrokerReply) {
        if let event = reply.event { onEvent(event) }
        guard let id = reply.id else { return }
        if let progress = reply.progress {
            state.withLock { $0.waiting[id]?.progress }?(progress)
        } else if let error = reply.error {
            fail(id, error)
        } else if state.withLock({ $0.waiting.removeValue(forKey: id) }) != nil {
            reply.complete?()
        }
    }

    private func expire() {
        let now = ContinuousClock.now
        let late = state.withLock { state in state.waiting.filter { $0.value.deadline < now }.map(\.key) }
        for id in late {
            fail(id, SignInError(.brokerUnavailable, .timedOut, "the broker did not answer in time"))
        }
    }

    private static var tooLarge: SignInError {
        SignInError(.configuration, .invalidParameter, "the request is too large for the broker")
    }

    private static var stopped: SignInError { SignInError(.cancelled, .stopped, "the request was cancelled") }

    static var gone: SignInError { SignInError(.brokerUnavailable, .brokerMissing, "no broker answers on this device") }
}
