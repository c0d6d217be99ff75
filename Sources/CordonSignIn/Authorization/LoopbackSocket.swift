internal import CordonBase
package import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A socket bound to 127.0.0.1 that reads request heads until one is accepted.
package final class LoopbackSocket: Sendable {
    /// What is done with a request.
    package enum Reply {
        case accepted(_ target: String, _ page: Data)
        case refused(_ page: Data)
    }

    /// How listening ended.
    package enum Outcome: Sendable {
        case accepted(String)
        case stopped
        case timedOut
    }

    /// The port that the system gave.
    package let port: UInt16
    private let listener: Int32
    /// The ends of a pipe that stops the thread that waits; the writing one is nil once it has.
    let wake: Int32
    let stopper: Locked<Int32?>

    private let takeConnection: @Sendable (Int32) -> Int32

    private static let largestHead = 65_536
    /// How many connections are open at a time.
    static let mostConnections = 64
    /// How long to pause accepting after the system ran out of descriptors or memory.
    private static let pause = Duration.milliseconds(100)

    /// Binds and listens, nil when the port is taken or the system refuses.
    ///
    /// - Parameter takeConnection: Takes a connection from the listening socket; below zero, with `errno`, when it cannot.
    package convenience init?(port: UInt16) { self.init(port: port, takeConnection: LoopbackSocket.accepted) }

    /// Binds and listens, and takes connections in a way of the caller's.
    init?(port: UInt16, takeConnection: @escaping @Sendable (Int32) -> Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        guard let bound = Self.bound(port) else {
            ends.forEach { close($0) }
            return nil
        }
        // The browser, which may live for days, is started while these are open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.takeConnection = takeConnection
        listener = bound.descriptor
        self.port = bound.port
        wake = ends[0]
        stopper = Locked(ends[1])
    }

    deinit {
        stop()
        close(listener)
        close(wake)
    }

    /// Ends ``serve(within:reply:)`` soon. No program can connect afterwards, and another socket can have the port.
    package func stop() {
        let end = stopper.withLock { end in
            defer { end = nil }
            return end
        }
        guard let end else { return }
        // A program that was started between the pipe and its flag holds this end too, and closing it would wake nobody.
        // The other end is open as long as this object, so the byte has a reader.
        var byte: UInt8 = 1
        _ = write(end, &byte, 1)
        close(end)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Reads requests until one is accepted; blocks the calling thread. No program can connect afterwards.
    package func serve(within timeout: Duration, reply: (String) -> Reply) -> Outcome {
        let deadline = ContinuousClock.now + timeout
        var open: [Connection] = []
        var opens = ContinuousClock.now
        defer {
            // A caller that waits for the end may rely on a closed port; the descriptor itself lives as long as this object.
            shutdown(listener, Int32(SHUT_RDWR))
            open.forEach { close($0.descriptor) }
        }
        while true {
            let left = deadline - .now
            guard left > .zero else { return .timedOut }
            let isPaused = opens > .now
            // A descriptor below zero is not waited for.
            var watched = ([wake, isPaused ? -1 : listener] + open.map(\.descriptor))
                .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let milliseconds = isPaused ? 100 : min(left.components.seconds, 3_600) * 1_000 + 1
            let count = poll(&watched, nfds_t(watched.count), Int32(milliseconds))
            if count < 0, errno != EINTR { return .stopped }
            guard count > 0 else { continue }
            if watched[0].revents != 0 { return .stopped }
            for state in watched.dropFirst(2) where state.revents != 0 {
                guard let index = open.firstIndex(where: { $0.descriptor == state.fd }) else { continue }
                let answer: Reply
                switch Self.read(open[index].head, from: state.fd) {
                case .more(let head):
                    open[index].head = head
                    continue
                case .broken:
                    close(open.remove(at: index).descriptor)
                    continue
                case .complete(let head): answer = reply(head)
                }
                open.remove(at: index)
                switch answer {
                case .refused(let page): Self.finish(state.fd, page)
                case .accepted(let target, let page):
                    // No other program may connect from here on; only then the browser hears of success.
                    shutdown(listener, Int32(SHUT_RDWR))
                    Self.finish(state.fd, page)
                    return .accepted(target)
                }
            }
            if watched[1].revents != 0, !accept(into: &open) { opens = .now + Self.pause }
        }
    }

    private struct Connection {
        let descriptor: Int32
        var head = Data()
    }

    /// Takes a connection, in place of the oldest where there are too many; false when the system could not, and would not
    /// at once.
    ///
    /// By age alone: a browser sends its request right after it has connected, so what has sent nothing yet may be its
    /// connection, and what has sent half a head a stranger's.
    private func accept(into open: inout [Connection]) -> Bool {
        let descriptor = takeConnection(listener)
        guard descriptor >= 0 else { return [EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED].contains(errno) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if open.count >= Self.mostConnections { close(open.removeFirst().descriptor) }
        open.append(Connection(descriptor: descriptor))
        return true
    }

    private enum Progress {
        case more(Data)
        case complete(String)
        case broken
    }

    private static func read(_ head: Data, from descriptor: Int32) -> Progress {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 { return errno == EAGAIN || errno == EINTR ? .more(head) : .broken }
        guard count > 0 else { return .broken }
        let head = head + buffer[..<count]
        if let end = head.range(of: Data("\r\n\r\n".utf8)) {
            return .complete(String(decoding: head[..<end.lowerBound], as: UTF8.self))
        }
        return head.count > largestHead ? .broken : .more(head)
    }

    private static func finish(_ descriptor: Int32, _ page: Data) {
        _ = page.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(LoopbackSystem.noSignal)) }
        shutdown(descriptor, Int32(SHUT_WR))
        close(descriptor)
    }
}
