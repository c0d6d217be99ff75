internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// One connection to the broker: any number of requests at once, matched to their answers, each with a deadline.
///
/// A thread of its own reads, so that nobody's work waits on a socket; it ends with the connection.
final class BrokerConnection: Sendable {
    private struct Waiter: Sendable {
        let deadline: ContinuousClock.Instant
        let progress: (@Sendable (BrokerProgress) -> Void)?
        /// Reads the answer and says how to hand it over.
        let read: @Sendable (any Decoder) throws -> BrokerReply.Completion
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
    private let onEvent: @Sendable (AccountEvent) -> Void
    private let onClose: @Sendable () -> Void

    /// Connects.
    ///
    /// - Parameter trust: Whose broker is believed; nothing is sent to any other.
    /// - Throws: ``SignInError`` with code `brokerUnavailable` when nobody listens, or somebody else than the device's broker.
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

    /// Ends the connection; whoever waits gets `brokerUnavailable`.
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
        let id = nextID()
        let outcome: Result<Call.Answer, SignInError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: .failure(Self.stopped)) }
                send(
                    BrokerRequest(call, id: id, correlationID: correlationID, nonce: nonce), id: id, within: limit,
                    progress: progress
                ) {
                    continuation.resume(returning: $0)
                }
                // A cancellation that came before the waiter was there found nobody to wake.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        return try outcome.get()
    }

    /// Asks and blocks the calling thread until the answer is there, for callers that cannot suspend.
    func callBlocking<Call: BrokerCall>(_ call: Call, within limit: Duration) throws(SignInError) -> Call.Answer {
        let answered = DispatchSemaphore(value: 0)
        let box = Locked<Result<Call.Answer, SignInError>?>(nil)
        let id = nextID()
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

    private func nextID() -> UInt32 {
        state.withLock { state in
            state.lastID &+= 1
            return state.lastID
        }
    }

    private func send<Call: BrokerCall>(
        _ request: BrokerRequest<Call>, id: UInt32, within limit: Duration,
        progress: (@Sendable (BrokerProgress, UInt32) -> Void)?,
        finish: @escaping @Sendable (Result<Call.Answer, SignInError>) -> Void
    ) {
        guard let payload = try? MessageCoding.encode(request), payload.count <= BrokerFrame.largestRequest else {
            finish(.failure(SignInError(.configuration, .invalidParameter, "the request is too large for the broker")))
            return
        }
        let told = progress.map { tell in { @Sendable (step: BrokerProgress) in tell(step, id) } }
        let waiter = Waiter(
            deadline: .now + limit, progress: told,
            read: { decoder in
                let outcome = try BrokerReply.answer(to: Call.self, from: decoder)
                return { finish(outcome) }
            }, fail: { finish(.failure($0)) })
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            state.waiting[id] = waiter
            return true
        }
        guard isOpen else {
            finish(.failure(Self.gone))
            return
        }
        guard socket.send(BrokerFrame.encode(payload)) else {
            fail(id, Self.gone)
            socket.end()
            return
        }
    }

    /// Tells the broker that nobody waits for a request any more.
    private func cancel(_ id: UInt32) {
        fail(id, Self.stopped)
        let next = nextID()
        send(
            BrokerRequest(CancelCall(request: id), id: next, nonce: nonce), id: next, within: .seconds(2), progress: nil
        ) { _ in }
    }

    private func fail(_ id: UInt32, _ error: SignInError) {
        let waiter = state.withLock { $0.waiting.removeValue(forKey: id) }
        waiter?.fail(error)
    }

    // MARK: The reading thread

    private func read() {
        var reader = BrokerFrameReader(limit: BrokerFrame.largestAnswer)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        reading: while true {
            switch socket.receive(into: &buffer) {
            case .end: break reading
            case .nothingYet: break
            case .bytes(let bytes):
                reader.append(bytes)
                // A length that makes no sense, or an answer that is none: nothing after it can be trusted.
                do {
                    while let payload = try reader.next() {
                        deliver(
                            try BrokerReply.read(payload) { id in self.state.withLock { $0.waiting[id]?.read } })
                    }
                } catch { break reading }
            }
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

    private static var stopped: SignInError { SignInError(.cancelled, .stopped, "the request was cancelled") }

    static var gone: SignInError { SignInError(.brokerUnavailable, .brokerMissing, "no broker answers on this device") }
}
