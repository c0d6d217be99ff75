internal import CordonBase
package import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A connected Unix-domain stream socket; closed when the value dies.
package final class BrokerSocket: Sendable {
    private let descriptor: Int32
    /// How long ``receive(into:)`` waits, in milliseconds.
    private let tick: Int32
    private let writing = NSLock()

    /// Connects to the path; nil when nothing listens there.
    ///
    /// - Parameter tick: How long ``receive()`` waits at most before it returns without bytes.
    package init?(path: String, tick: Duration) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        // A zero would end the path early, or, in front, name a socket that lies in no folder.
        guard !name.isEmpty, !name.contains(0), name.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        descriptor = socket(AF_UNIX, LoopbackSystem.stream, 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var wait = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        // Never nothing: a reader that did not wait would not let go of its core.
        let (seconds, rest) = min(max(tick, .milliseconds(1)), .seconds(60)).components
        self.tick = Int32(clamping: seconds * 1_000 + rest / 1_000_000_000_000_000)
        wait = timeval(tv_sec: 0, tv_usec: 1_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        guard isConnected else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// The user whose process listens there, as the kernel says; nil where it does not.
    var peerUser: UInt32? { PeerCredentials(socket: descriptor)?.user }

    /// Ends both directions; a waiting ``receive()`` returns.
    package func end() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Sends everything; false when the connection is broken or the peer does not read.
    package func send(_ bytes: Data) -> Bool {
        writing.withLock {
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    #if canImport(Darwin)
                        let count = Darwin.send(descriptor, part.baseAddress, part.count, 0)
                    #else
                        let count = Foundation.send(
                            descriptor, part.baseAddress, part.count, Int32(LoopbackSystem.noSignal))
                    #endif
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }
        }
    }

    /// What reading gave.
    package enum Received {
        case bytes(ArraySlice<UInt8>)
        case nothingYet
        case end
    }

    /// Waits for bytes, at most one tick; blocks the calling thread. For one reader.
    package func receive(into buffer: inout [UInt8]) -> Received {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, tick) > 0 ? receive(into: &buffer, flags: Int32(MSG_DONTWAIT)) : .nothingYet
    }

    /// Waits for bytes that are expected at once, for a tick or two of the kernel's clock; blocks the calling thread. For one reader.
    ///
    /// It waits in the read itself: a thread that asks first whether there is anything to read is often woken on a core that sleeps, which
    /// takes longer than the broker needs for a short answer.
    func receiveSoon(into buffer: inout [UInt8]) -> Received { receive(into: &buffer, flags: 0) }

    private func receive(into buffer: inout [UInt8], flags: Int32) -> Received {
        let count = recv(descriptor, &buffer, buffer.count, flags)
        if count > 0 { return .bytes(buffer[..<count]) }
        if count < 0, errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR { return .nothingYet }
        return .end
    }
}
