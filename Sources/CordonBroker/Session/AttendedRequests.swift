internal import CordonSignIn
internal import Foundation

/// One request of one connection.
struct RequestKey: Hashable {
    let peer: Int
    let id: UInt32
}

/// The requests that wait for a person: each can be cancelled, and may wait for a page that its app shows.
struct AttendedRequests {
    private var running: [RequestKey: Task<BrokerMessage, Never>] = [:]
    private var pages: [RequestKey: CheckedContinuation<URL?, any Error>] = [:]

    /// Refuses an id whose request is under way.
    func requireFree(_ key: RequestKey) throws(SignInError) {
        guard running[key] == nil else {
            throw SignInError(.configuration, .invalidRequest, "a request of this id is under way")
        }
    }

    mutating func begin(_ key: RequestKey, _ task: Task<BrokerMessage, Never>) { running[key] = task }

    mutating func finish(_ key: RequestKey) { running[key] = nil }

    func cancel(_ key: RequestKey) { running[key]?.cancel() }

    /// Cancels everything that a connection waits for.
    func cancelAll(of peer: Int) {
        for (key, task) in running where key.peer == peer { task.cancel() }
    }

    /// Waits for the page of a request; a page that was waited for before is given up.
    mutating func awaitPage(_ key: RequestKey, _ continuation: CheckedContinuation<URL?, any Error>) {
        abandonPage(key)
        pages[key] = continuation
    }

    /// The app's page ended, or the app only opened it: then the loopback listener hears the rest.
    mutating func endPage(_ key: RequestKey, at url: URL?) {
        pages.removeValue(forKey: key)?.resume(returning: url)
    }

    mutating func abandonPage(_ key: RequestKey) {
        pages.removeValue(forKey: key)?.resume(throwing: CancellationError())
    }
}
