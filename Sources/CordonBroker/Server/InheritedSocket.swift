public import CordonProtocol

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A listening socket that the program that started this process made for it: systemd's socket activation (SI-188, `sd_listen_fds`).
///
/// Apps can then connect before the broker runs and wait for it, instead of finding no broker.
public enum InheritedSocket {
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = Int32(SOCK_STREAM)
    #endif
    /// The first descriptor that is handed over.
    private static let first: Int32 = 3

    /// The descriptor; nil where the environment names none for this process.
    ///
    /// - Parameters:
    ///   - environment: The process's environment.
    ///   - process: The process's id.
    /// - Throws: ``ProgramError`` with code `addressUnavailable` when more than one is handed over, or it is no listening Unix-domain
    ///   stream socket.
    public static func descriptor(
        _ environment: [String: String], process: Int32
    ) throws(ProgramError) -> Int32? {
        guard environment["LISTEN_PID"] == String(process),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }),
            count > 0
        else { return nil }
        guard count == 1 else { throw failure("\(count) sockets were handed over instead of one") }
        try check(first)
        return first
    }

    /// Whether apps of this machine can connect there; keeps the descriptor from programs that this one starts.
    ///
    /// - Throws: ``ProgramError`` with code `addressUnavailable`.
    static func check(_ descriptor: Int32) throws(ProgramError) {
        guard option(SO_ACCEPTCONN, of: descriptor) == 1, option(SO_TYPE, of: descriptor) == stream,
            family(of: descriptor) == AF_UNIX
        else { throw failure("what was handed over is not a listening Unix-domain stream socket") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    private static func family(of descriptor: Int32) -> Int32? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
        }
        return isKnown ? Int32(address.sun_family) : nil
    }

    private static func failure(_ reason: String) -> ProgramError {
        ProgramError(
            .addressUnavailable, reason: reason, place: "LISTEN_FDS", hint: "Hand over one ListenStream= socket.")
    }
}
