import Foundation

/// Bytes on a socket, exactly as written, for requests that no honest client sends.
enum RawConnection {
    /// Sends the bytes and reads until the other side closes, or the answer is whole by its own length.
    ///
    /// Runs on a thread of its own, because it waits; after ninety seconds, which a loaded machine does not need, it gives up.
    static func exchange(port: Int, _ text: String, untilClosed: Bool = true) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try run(port: port, text, untilClosed: untilClosed) })
            }
        }
    }

    /// Keeps a connection open, after the answer to what was sent, while something else is done.
    static func beside<Value>(port: Int, _ text: String, _ body: () async throws -> Value) async throws -> Value {
        let descriptor: Int32 = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try answered(port: port, text) })
            }
        }
        defer { close(descriptor) }
        return try await body()
    }

    private static func answered(port: Int, _ text: String) throws -> Int32 {
        let descriptor = try open(port: port)
        send(text, to: descriptor)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        guard recv(descriptor, &buffer, buffer.count, 0) > 0 else {
            close(descriptor)
            throw POSIXError(.ECONNRESET)
        }
        return descriptor
    }

    private static func run(port: Int, _ text: String, untilClosed: Bool) throws -> String {
        let descriptor = try open(port: port)
        defer { close(descriptor) }
        send(text, to: descriptor)
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                let isOpen = count < 0 && [EAGAIN, EWOULDBLOCK].contains(errno)
                return String(decoding: answer, as: UTF8.self) + (isOpen ? "\n(still open)" : "")
            }
            answer += buffer[..<count]
            if !untilClosed { return String(decoding: answer, as: UTF8.self) }
        }
    }

    /// A connected socket whose reading and writing end after ninety seconds.
    private static func open(port: Int) throws -> Int32 {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var limit = timeval(tv_sec: 90, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            throw POSIXError(.ECONNREFUSED)
        }
        return descriptor
    }

    private static func send(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { break }
            rest = rest.dropFirst(sent)
        }
    }
}
