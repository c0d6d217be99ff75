import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Clients that do not keep to the protocol, in a process of their own, until they are stopped.
final class Hostile {
    /// What such clients do.
    enum Kind: String, CaseIterable, Sendable {
        /// Eight connections that ask without pause and read nothing.
        case deaf = "8 that ask and never read"
        /// Eight connections that ask without pause and read everything.
        case greedy = "8 that ask without pause"
        /// A hundred connections that stop in the middle of a frame.
        case stalled = "100 that stop in a frame"
        /// Connections that end their sending half after a question, again and again.
        case halfClosed = "4 that half-close"
        /// Connections that announce four gigabytes, again and again.
        case lying = "4 that lie about lengths"
        /// Connections without end that say nothing.
        case knocking = "4 that only connect"

        var threads: Int {
            switch self {
            case .deaf, .greedy: 8
            case .stalled: 100
            case .halfClosed, .lying, .knocking: 4
            }
        }
    }

    private static let hello = frame(#"{"id":1,"verb":"hello","versions":[1],"clientID":"hostile"}"#)
    private static let question = frame(#"{"id":2,"verb":"device.info"}"#)

    private let process = Process()

    /// Starts them in a process of their own, from a copy of this program: to the broker another program.
    init(_ kind: Kind, socket: String, copy: URL) throws {
        if !FileManager.default.fileExists(atPath: copy.path) {
            try FileManager.default.copyItem(at: URL(filePath: "/proc/self/exe").resolvingSymlinksInPath(), to: copy)
        }
        process.executableURL = copy
        process.arguments = ["--hostile", String(describing: kind), socket]
        try process.run()
    }

    /// Ends them.
    func stop() {
        // A process that a worker thread starts does not hear of SIGTERM: such threads block it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The whole life of a process of hostile clients.
    static func live(_ arguments: [String]) -> Never {
        guard arguments.count == 2, let kind = Kind.allCases.first(where: { String(describing: $0) == arguments[0] })
        else { exit(2) }
        let path = arguments[1]
        for _ in 0..<kind.threads {
            Thread.detachNewThread { while true { misbehave(kind, path) } }
        }
        // Not past the end of a benchmark that was killed: what runs next on the machine would be measured beside them.
        let benchmark = getppid()
        while getppid() == benchmark { sleep(1) }
        exit(0)
    }

    private static func misbehave(_ kind: Kind, _ path: String) {
        guard let socket = connected(path) else {
            usleep(10_000)
            return
        }
        defer { close(socket) }
        var answers = [UInt8](repeating: 0, count: 65_536)
        switch kind {
        case .deaf:
            guard say(hello, socket) else { return }
            let burst = [UInt8]((0..<64).map { _ in question }.joined())
            while say(burst, socket) {}
        case .greedy:
            guard say(hello, socket) else { return }
            while say(question, socket), recv(socket, &answers, answers.count, 0) > 0 {}
        case .stalled:
            guard say([0, 0, 0, 50, 0x7B], socket) else { return }
            while recv(socket, &answers, answers.count, 0) != 0 {}
        case .halfClosed:
            guard say(hello, socket), say(question, socket) else { return }
            shutdown(socket, Int32(SHUT_WR))
            while recv(socket, &answers, answers.count, 0) > 0 {}
        case .lying:
            guard say([0xFF, 0xFF, 0xFF, 0xFF], socket) else { return }
            while recv(socket, &answers, answers.count, 0) > 0 {}
        case .knocking: break
        }
    }

    private static func frame(_ text: String) -> [UInt8] {
        withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian) { Array($0) } + Array(text.utf8)
    }

    private static func say(_ bytes: [UInt8], _ socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func connected(_ path: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var wait = timeval(tv_sec: 0, tv_usec: 200_000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }
}
