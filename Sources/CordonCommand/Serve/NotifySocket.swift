import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Tells systemd how the service is doing, by the datagram socket that it names in the environment (`sd_notify`, systemd.service
/// `Type=notify`).
///
/// Nothing is sent where no supervisor listens. What cannot be sent is lost: the service does not depend on who watches it.
struct NotifySocket: Sendable {
    /// What is told.
    enum Message: Equatable {
        /// The service answers.
        case ready
        /// It ends; what is still under way is finished.
        case stopping
        /// It is alive.
        case alive
        /// What a person reads in `systemctl status`.
        case status(String)

        var text: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let words): "STATUS=" + words.replacing("\n", with: " ")
            }
        }
    }

    private let path: String
    /// How often a sign of life is due: half of what the watchdog waits; nil where none is expected.
    let signOfLife: Duration?

    /// The socket that the environment names, nil where there is none.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment, process: Int32 = getpid()) {
        // A name in the abstract namespace begins with @.
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.path = path
        let isForUs = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
        signOfLife = environment["WATCHDOG_USEC"].flatMap { Int64($0) }
            .flatMap { isForUs && $0 > 0 ? .microseconds($0 / 2) : nil }
    }

    /// Tells something, in one datagram.
    func tell(_ messages: Message...) {
        let text = messages.map(\.text).joined(separator: "\n")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { place in
            place.copyBytes(from: name)
            if name.first == UInt8(ascii: "@") { place[0] = 0 }
        }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + name.count)
        let descriptor = socket(AF_UNIX, Self.datagram, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, bytes, bytes.count, Self.flags, address, size)
            }
        }
    }

    #if canImport(Glibc)
        private static let datagram = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    #elseif canImport(Musl)
        private static let datagram = SOCK_DGRAM | SOCK_CLOEXEC
    #else
        private static let datagram = SOCK_DGRAM
    #endif
    #if canImport(Darwin)
        private static let flags: Int32 = 0
    #else
        // A supervisor that does not read must not stop the service.
        private static let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    #endif
}
