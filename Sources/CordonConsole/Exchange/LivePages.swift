import CordonBase
import Foundation

/// The pages that change by themselves, found by their paths.
final class LivePages: Sendable {
    private let known = Locked<[(pattern: [Substring], handler: ConsoleRoutes.Handler)]>([])

    func add(_ path: String, _ handler: @escaping ConsoleRoutes.Handler) {
        let pattern = path.split(separator: "/")
        known.withLock { $0.append((pattern, handler)) }
    }

    /// The most pages of one session that change by themselves at once. Browsers hold six connections to one host, and need one
    /// for the page that a person opens next.
    static let mostOfSession = 4
    private let open = Locked<[String: Int]>([:])

    /// Whether one more page of a session may change by itself; each is ended with ``end(_:)``.
    func begin(_ session: ConsoleSession) -> Bool {
        open.withLock { open in
            guard open[session.csrf, default: 0] < Self.mostOfSession else { return false }
            open[session.csrf, default: 0] += 1
            return true
        }
    }

    func end(_ session: ConsoleSession) {
        open.withLock { open in
            let left = open[session.csrf, default: 1] - 1
            open[session.csrf] = left > 0 ? left : nil
        }
    }

    /// The page at a path, with what stands for its keys.
    func page(at path: String) -> (handler: ConsoleRoutes.Handler, keys: [String])? {
        let names = path.split(separator: "/")
        let pages = known.withLock { $0 }
        for (pattern, handler) in pages where pattern.count == names.count {
            var keys: [String] = []
            let fits = zip(pattern, names).allSatisfy { part, name in
                guard part.hasPrefix(":") else { return part == name }
                keys.append(String(name).removingPercentEncoding ?? String(name))
                return true
            }
            if fits { return (handler, keys) }
        }
        return nil
    }
}
