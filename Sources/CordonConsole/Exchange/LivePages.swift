import CordonBase
import Foundation

/// The pages that change by themselves, found by their paths.
final class LivePages: Sendable {
    private let known = Locked<[(pattern: [Substring], handler: ConsoleRoutes.Handler)]>([])

    func add(_ path: String, _ handler: @escaping ConsoleRoutes.Handler) {
        let pattern = path.split(separator: "/")
        known.withLock { $0.append((pattern, handler)) }
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
