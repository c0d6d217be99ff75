internal import Foundation

/// The way back from the browser: a loopback listener, or the app itself.
struct SignInReturn: Sendable {
    /// The redirect to name in the request.
    let address: String
    private let listener: LoopbackListener?

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

    /// Shows the page and waits for the answer.
    ///
    /// - Parameter state: What the answer repeats of the request; a request without it is not the answer.
    func visit(
        _ page: URL, browser: BrowserLauncher, state: String, timeout: Duration
    ) async throws(SignInError) -> URL {
        guard let redirect = URL(string: address) else {
            throw SignInError(.configuration, .invalidRedirect, "the redirect is not an address")
        }
        guard let listener else {
            guard let answer = try await browser.visit(page, redirect: redirect) else {
                throw SignInError(.configuration, .invalidRedirect, "the browser launcher did not return the answer")
            }
            return answer
        }
        // Listening starts before the page is shown, since a launcher may wait for the page to end.
        let waiting = Task { () -> Result<URL, SignInError> in
            do throws(SignInError) {
                return .success(try await listener.answer(to: state, within: timeout))
            } catch {
                return .failure(error)
            }
        }
        do {
            if let answer = try await browser.visit(page, redirect: redirect) {
                listener.stop()
                return answer
            }
        } catch {
            listener.stop()
            throw error
        }
        return try await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            listener.stop()
        }.get()
    }
}
