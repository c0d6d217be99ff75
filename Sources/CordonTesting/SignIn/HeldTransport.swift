public import CordonSignIn
public import Foundation
public import HTTPTypes

/// Lets requests pass, except those to one path, whose answers it holds back until told: for what happens meanwhile.
public actor HeldTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private let path: String
    private var isHolding = false
    private var held: [CheckedContinuation<Void, Never>] = []
    private var arrivals: [CheckedContinuation<Void, Never>] = []

    /// Wraps a transport; nothing is held yet.
    public init(_ inner: any HTTPTransport, path: String) {
        self.inner = inner
        self.path = path
    }

    /// Holds answers from now on.
    public func hold() { isHolding = true }

    /// Hands out what was held, and holds nothing more.
    public func release() {
        isHolding = false
        held.forEach { $0.resume() }
        held = []
    }

    /// Waits until an answer is being held.
    public func waitForHeldAnswer() async {
        if !held.isEmpty { return }
        await withCheckedContinuation { arrivals.append($0) }
    }

    /// Sends a request; the answer of the path waits for ``release()`` while answers are held.
    public func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
        if isHolding, request.path == path {
            await withCheckedContinuation { continuation in
                held.append(continuation)
                arrivals.forEach { $0.resume() }
                arrivals = []
            }
        }
        return answer
    }

    /// Streams are not held.
    public func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}
