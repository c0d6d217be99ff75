import CordonBase
import CordonSignIn
import Foundation
import HTTPTypes

/// The network of one run of an app, which may end in the middle of an exchange, as when the system ends the app: then
/// nothing that waits for an answer ever goes on.
final class MortalNetwork: HTTPTransport {
    private let service: ScriptedService
    private let plan = Locked<(left: Int, isHeard: Bool)?>(nil)
    private let isDead = Locked(false)
    private let ended = Locked<@Sendable () -> Void>({})

    init(_ service: ScriptedService) { self.service = service }

    /// Ends the run at a later request, which the service hears or does not, and says so then; nil lets it live.
    func end(after requests: Int?, isHeard: Bool, _ say: @escaping @Sendable () -> Void = {}) {
        ended.withLock { $0 = say }
        plan.withLock { $0 = requests.map { (left: $0, isHeard: isHeard) } }
    }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        if isDead.withLock({ $0 }) { await Self.waitForEver() }
        guard let isHeard = lastBreath(request) else {
            return try await service.send(request, body: body, limit: limit, timeout: timeout)
        }
        if isHeard { _ = try? await service.send(request, body: body, limit: limit, timeout: timeout) }
        isDead.withLock { $0 = true }
        ended.withLock { $0 }()
        await Self.waitForEver()
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await service.stream(request, timeout: timeout)
    }

    /// Whether this is the run's last request, and whether the service hears it. A wipe is no place to end here: a process
    /// that dies lets go of its lock, which a value that is forgotten does not.
    private func lastBreath(_ request: HTTPRequest) -> Bool? {
        guard request.path?.hasSuffix("/acknowledgements") != true else { return nil }
        return plan.withLock { plan in
            guard let (left, isHeard) = plan else { return nil }
            plan = left > 0 ? (left: left - 1, isHeard: isHeard) : nil
            return left > 0 ? nil : isHeard
        }
    }

    private static func waitForEver() async -> Never {
        while true { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }
}
