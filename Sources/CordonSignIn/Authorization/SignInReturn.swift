internal import CordonBase
internal import Foundation

/// The way back from the browser: a loopback listener, or the app itself.
struct SignInReturn: Sendable {
    private typealias Outcome = Result<URL, SignInError>

    /// The redirect to name in the request.
    let address: String
    let listener: LoopbackListener?
    /// Where a visit hears how it ends; nil before there is one.
    private let ending = Locked<AsyncStream<Outcome>.Continuation?>(nil)

    init(_ redirect: SignInRedirect) throws(SignInError) {
        switch redirect {
        case .loopback(let path, let ports):
            let listener = try LoopbackListener(path: path, ports: ports)
            self.listener = listener
            address = listener.redirect
        case .application(let url):
            guard let scheme = url.scheme?.lowercased(),
                !["http", "urn", "javascript", "data", "file"].contains(scheme),
                url.query() == nil, url.fragment() == nil, scheme != "https" || url.host()?.isEmpty == false
            else {
                throw SignInError(
                    .configuration, .invalidRedirect,
                    "the redirect is neither a claimed https address nor an app's scheme")
            }
            listener = nil
            address = url.absoluteString
        }
    }

    func stop() { listener?.stop() }

    /// Ends a visit that waits for its person, with this error; the port is free at once.
    func giveUp(_ reason: SignInError) {
        ending.withLock { $0 }?.yield(.failure(reason))
        stop()
    }

    /// Shows the page and waits for the answer, which the listener or the launcher has.
    ///
    /// A launcher may wait for its page to end. It is cancelled once there is an answer or the time is over, and nothing waits for
    /// it then, since it may not heed that.
    ///
    /// - Parameter state: What the answer repeats of the request; a request without it is not the answer.
    func visit(
        _ page: URL, browser: BrowserLauncher, state: String, timeout: Duration
    ) async throws(SignInError) -> URL {
        let (outcomes, ended) = AsyncStream<Outcome>.makeStream()
        ending.withLock { $0 = ended }
        // Listening starts before the page is shown.
        let waiting = Task {
            await Self.tell(ended) { () async throws(SignInError) in try await answer(to: state, within: timeout) }
        }
        // A launcher that goes on does not keep the port.
        let (address, hasListener) = (address, listener != nil)
        let showing = Task {
            await Self.tell(ended) { () async throws(SignInError) in
                try await Self.show(page, in: browser, to: address, hasListener: hasListener)
            }
        }
        let outcome = await outcomes.first { _ in true }
        showing.cancel()
        waiting.cancel()
        // No program is answered at the port afterwards.
        await waiting.value
        guard let outcome else { throw Self.stopped }
        return try outcome.get()
    }

    private static func tell(
        _ ended: AsyncStream<Outcome>.Continuation, _ answer: () async throws(SignInError) -> URL?
    ) async {
        do { if let answer = try await answer() { ended.yield(.success(answer)) } } catch {
            ended.yield(.failure(error))
        }
    }

    private func answer(to state: String, within timeout: Duration) async throws(SignInError) -> URL {
        if let listener { return try await listener.answer(to: state, within: timeout) }
        do { try await Task.sleep(for: timeout) } catch { throw Self.stopped }
        throw Self.timedOut
    }

    /// The answer, nil where it comes to the listener.
    private static func show(
        _ page: URL, in browser: BrowserLauncher, to address: String, hasListener: Bool
    ) async throws(SignInError) -> URL? {
        guard let redirect = URL(string: address) else {
            throw SignInError(.configuration, .invalidRedirect, "the redirect is not an address")
        }
        let answer = try await browser.visit(page, redirect: redirect)
        guard answer != nil || hasListener else {
            throw SignInError(.configuration, .invalidRedirect, "the browser launcher did not return the answer")
        }
        return answer
    }

    static let stopped = SignInError(.cancelled, .stopped, "the sign-in was stopped")
    static let timedOut = SignInError(.cancelled, .timedOut, "no one signed in within the time allowed")
}
