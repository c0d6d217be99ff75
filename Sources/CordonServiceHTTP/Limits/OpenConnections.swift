import CordonBase
import NIOCore

/// Counts the connections that are open, and refuses those above the most that there may be, and above the share of one
/// address among those of whose other end nothing is known.
///
/// A connection counts for its address until a request on it was let in, so that many apps behind one address of a company stay
/// connected, and one machine that only connects cannot take every place.
final class OpenConnections: Sendable {
    /// The most that there may be.
    let most: Int
    /// The most of one address of which nothing is known.
    private let mostUnknown: Int
    private let metrics: ServiceMetrics?
    private let state = Locked(State())

    private struct State {
        var count = 0
        var unknown: [String: Int] = [:]
    }

    init(atMost most: Int, unknownOfAddress mostUnknown: Int = .max, metrics: ServiceMetrics? = nil) {
        self.most = most
        self.mostUnknown = mostUnknown
        self.metrics = metrics
    }

    /// Takes a place; false where none is left.
    ///
    /// - Parameter address: Where the connection comes from, nil where that tells nothing, as behind a proxy.
    func enter(from address: String? = nil) -> Bool {
        let entered = state.withLock { state in
            guard state.count < most else { return false }
            if let address {
                guard state.unknown[address, default: 0] < mostUnknown else { return false }
                state.unknown[address, default: 0] += 1
            }
            state.count += 1
            return true
        }
        if entered { metrics?.connectionOpened() } else { metrics?.connectionRefused() }
        return entered
    }

    /// Counts a connection no more for its address: a request on it was let in.
    func know(_ address: String) { state.withLock { Self.forget(address, in: &$0) } }

    /// Gives a place back.
    ///
    /// - Parameter address: Where the connection came from, nil where it counts for no address any more.
    func leave(from address: String? = nil) {
        state.withLock { state in
            state.count -= 1
            if let address { Self.forget(address, in: &state) }
        }
        metrics?.connectionClosed()
    }

    private static func forget(_ address: String, in state: inout State) {
        let left = state.unknown[address, default: 1] - 1
        state.unknown[address] = left > 0 ? left : nil
    }

    /// What an address counts as: itself, of IPv6 its network of 64 bits, which one machine has to itself. Nil for this machine,
    /// where a proxy may be, and for a text that is not an address.
    static func key(of address: SocketAddress?) -> String? {
        guard var text = address?.ipAddress else { return nil }
        // A socket of IPv6 takes clients of IPv4 too, all of them in one network (RFC 4291 §2.5.5.2).
        if text.hasPrefix(mapped), text.contains(".") { text.removeFirst(mapped.count) }
        guard !Loopback.includes(text) else { return nil }
        return text.contains(":") ? network(of: text) : text
    }

    /// What stands before an address of IPv4 that is written as one of IPv6.
    private static let mapped = "::ffff:"

    /// The first four groups of an IPv6 address, with those that `::` leaves out.
    private static func network(of text: String) -> String {
        let halves = text.prefix { $0 != "%" }.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let head = halves[0].split(separator: ":").map(String.init)
        let tail = halves.count > 1 ? halves[1].split(separator: ":").map(String.init) : []
        let zeros = halves.count > 1 ? max(0, 8 - head.count - tail.count) : 0
        let groups = head + Array(repeating: "0", count: zeros) + tail
        return groups.prefix(4).joined(separator: ":") + "::/64"
    }
}
