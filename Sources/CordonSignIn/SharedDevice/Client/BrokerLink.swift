internal import CordonIdentity
internal import Foundation

/// The app's way to the broker: connected at first use and again after a loss, greeted each time.
actor BrokerLink {
    /// The newest version of the protocol that this library speaks.
    static let version = 2
    /// The versions that it speaks; a broker of the first wants no nonce.
    static let versions = [1, 2]
    /// The least time between two connections that are made by themselves.
    private static let rest = Duration.milliseconds(50)

    private let path: String
    private let trust: BrokerTrust
    private let clientID: String
    private let onEvent: @Sendable (AccountEvent) -> Void
    /// How long to wait for an answer.
    nonisolated let deadline: @Sendable (BrokerVerb) -> Duration
    private var connection: BrokerConnection?
    private var connecting: Task<Result<BrokerConnection, SignInError>, Never>?
    private var isSubscribed = false
    private var keeper: Task<Void, Never>?
    /// When a lost connection may be made again by itself: a broker may hang up as soon as it has answered, again and again.
    private var rested = ContinuousClock.now

    /// - Parameters:
    ///   - trust: Whose broker is believed.
    ///   - deadline: How long to wait for an answer; tests on a machine that stalls wait longer.
    init(
        path: String, clientID: String, trust: BrokerTrust = .device,
        deadline: @escaping @Sendable (BrokerVerb) -> Duration = { $0.deadline },
        onEvent: @escaping @Sendable (AccountEvent) -> Void
    ) {
        self.path = path
        self.trust = trust
        self.clientID = clientID
        self.deadline = deadline
        self.onEvent = onEvent
    }

    deinit {
        keeper?.cancel()
        connection?.close()
    }

    /// Asks the broker; a request that met a lost connection is asked once more over a new one, where it may be.
    func call<Call: BrokerCall>(
        _ call: Call, correlationID: UUID? = nil, progress: (@Sendable (BrokerProgress, AskedRequest) -> Void)? = nil
    ) async throws(SignInError) -> Call.Answer {
        let limit = deadline(Call.verb)
        let first = try await connected()
        let told = progress.map { [deadline] tell in
            { @Sendable (step: BrokerProgress, id: UInt32) in
                tell(step, AskedRequest(id: id, connection: first, deadline: deadline))
            }
        }
        do {
            return try await first.call(call, correlationID: correlationID, within: limit, progress: told)
        } catch {
            guard error.fault == .brokerMissing, progress == nil, Call.verb.isRepeatable else { throw error }
            return try await connected().call(call, correlationID: correlationID, within: limit)
        }
    }

    /// The connection, made and greeted where there is none; callers at the same time share one attempt.
    func connected() async throws(SignInError) -> BrokerConnection {
        if let connection, !connection.isClosed { return connection }
        let attempt =
            connecting
            ?? Task {
                let outcome: Result<BrokerConnection, SignInError>
                do throws(SignInError) { outcome = .success(try await self.connect()) } catch {
                    outcome = .failure(error)
                }
                self.connecting = nil
                return outcome
            }
        connecting = attempt
        return try await attempt.value.get()
    }

    private func connect() async throws(SignInError) -> BrokerConnection {
        let fresh = try BrokerConnection(
            path: path, trust: trust, onEvent: onEvent,
            onClose: { [weak self] in Task { await self?.lost() } })
        do throws(SignInError) {
            let greeting = try await fresh.call(
                HelloCall(versions: Self.versions, clientID: clientID), within: deadline(.hello))
            guard Self.versions.contains(greeting.version), greeting.version == 1 || greeting.nonce != nil else {
                throw SignInError(.brokerUnavailable, .brokerMissing, "the broker speaks another version")
            }
            fresh.nonce = greeting.nonce
            if isSubscribed {
                _ = try await fresh.call(SubscribeCall(), within: deadline(.eventsSubscribe))
            }
        } catch {
            fresh.close()
            throw error
        }
        connection = fresh
        rested = .now + Self.rest
        return fresh
    }

    /// Keeps a connection open for events from now on.
    func subscribe() async {
        guard !isSubscribed else { return }
        isSubscribed = true
        if let connection, !connection.isClosed,
            (try? await connection.call(SubscribeCall(), within: deadline(.eventsSubscribe))) != nil
        {
            return
        }
        connection?.close()
        connection = nil
        keep()
    }

    private func lost() {
        guard isSubscribed, connection?.isClosed ?? true else { return }
        connection = nil
        keep()
    }

    /// Connects again and again until it works, then tells that anything may have happened meanwhile (SI-198).
    private func keep() {
        guard keeper == nil else { return }
        keeper = Task { [weak self, rested] in
            try? await Task.sleep(until: rested, clock: .continuous)
            var pause = Self.rest
            while !Task.isCancelled {
                guard let self else { return }
                if (try? await self.connected()) != nil { break }
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
            await self?.kept()
        }
    }

    private func kept() {
        keeper = nil
        // The connection may have been lost again before this, and `lost()` found someone at work on it.
        guard let connection, !connection.isClosed else { return keep() }
        onEvent(AccountEvent(.resumed, session: 0))
    }
}

/// A request under way and the connection that it was asked over: over any other its number means another request.
struct AskedRequest: Sendable {
    let id: UInt32
    fileprivate let connection: BrokerConnection
    fileprivate let deadline: @Sendable (BrokerVerb) -> Duration

    /// Tells the broker what came of it; nothing where the connection has ended, which has ended the request too.
    func tell<Call: BrokerCall>(_ call: (UInt32) -> Call) async {
        _ = try? await connection.call(call(id), within: deadline(Call.verb))
    }
}
