import Foundation
import Glibc

/// A browser of the simplest kind, for real sockets on 127.0.0.1.
enum RawHTTP {
    /// Nothing listens.
    struct Refused: Error {}

    static func get(_ url: URL) async throws -> String {
        let port = UInt16(url.port ?? 0)
        let path = url.path() + (url.query().map { "?" + $0 } ?? "")
        return try await exchange("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port)
    }

    /// Sends the text and reads until the other side closes.
    static func exchange(_ text: String, port: UInt16) async throws -> String {
        try await exchange(text, over: connect(port: port))
    }

    /// Sends the text over a connection and reads until the other side closes; closes it then.
    static func exchange(_ text: String, over descriptor: Int32) async -> String {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                defer { close(descriptor) }
                send(text, over: descriptor)
                var answer: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    answer += buffer[..<count]
                }
                continuation.resume(returning: String(decoding: answer, as: UTF8.self))
            }
            thread.start()
        }
    }

    static func send(_ text: String, over descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Whether the other side has closed the connection or sent something.
    static func hasNews(_ descriptor: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }

    static func connect(port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = withAddress(port) { Glibc.connect(descriptor, $0, $1) == 0 }
        guard isConnected else {
            close(descriptor)
            throw Refused()
        }
        return descriptor
    }

    static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard withAddress(0, { bind(descriptor, $0, $1) == 0 }), Glibc.listen(descriptor, 1) == 0 else {
            throw Refused()
        }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &size) }
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    static func disconnect(_ descriptor: Int32) { close(descriptor) }

    private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
