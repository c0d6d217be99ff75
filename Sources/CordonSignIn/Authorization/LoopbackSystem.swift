internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What differs between systems in the socket interface.
enum LoopbackSystem {
    #if canImport(Darwin)
        static let stream = SOCK_STREAM
        static let noSignal = 0
    #elseif canImport(Glibc)
        static let stream = Int32(SOCK_STREAM.rawValue)
        static let noSignal = MSG_NOSIGNAL
    #else
        static let stream = Int32(SOCK_STREAM)
        static let noSignal = MSG_NOSIGNAL
    #endif
}

extension LoopbackSocket {
    /// A listening socket on 127.0.0.1 and its port; 0 asks for any free one.
    static func bound(_ port: UInt16) -> (descriptor: Int32, port: UInt16)? {
        let descriptor = socket(AF_INET, LoopbackSystem.stream, 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // A connection may be gone by the time of the call that takes it.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var on: Int32 = 1
        // A registered port is wanted again at the next sign-in, while the last connection may still linger.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return nil
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    @Sendable static func accepted(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
}
