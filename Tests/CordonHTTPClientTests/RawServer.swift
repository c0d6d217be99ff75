import Foundation
import Glibc

/// A server of raw bytes on 127.0.0.1: each connection is handed to a function on a thread of its own.
final class RawServer: Sendable {
    let port: UInt16
    private let listener: Int32

    /// One accepted connection.
    struct Connection: Sendable {
        let descriptor: Int32

        /// The next byte, nil when the client went away.
        private func next() -> UInt8? {
            var byte: UInt8 = 0
            while true {
                let count = recv(descriptor, &byte, 1, 0)
                if count < 0, errno == EINTR { continue }
                return count == 1 ? byte : nil
            }
        }

        /// The request up to the empty line, nil when the client went away first.
        func readHead() -> String? {
            var head: [UInt8] = []
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard let byte = next() else { return nil }
                head.append(byte)
            }
            return String(decoding: head, as: UTF8.self)
        }

        /// That many bytes of a body.
        func read(_ count: Int) -> Data {
            var body: [UInt8] = []
            while body.count < count, let byte = next() { body.append(byte) }
            return Data(body)
        }

        /// Whether the bytes could be handed over.
        @discardableResult
        func write(_ text: String) -> Bool {
            let bytes = Array(text.utf8)
            return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }

        /// Waits until the client closes.
        func waitForEnd() {
            while next() != nil {}
        }
    }

    init(_ serve: @escaping @Sendable (Connection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        let accepting = Thread {
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard descriptor >= 0 else {
                    // Closed here and nowhere else: a number closed elsewhere could already be another server's.
                    close(listener)
                    return
                }
                let connection = Thread {
                    serve(Connection(descriptor: descriptor))
                    close(descriptor)
                }
                connection.start()
            }
        }
        accepting.start()
    }

    /// Stops accepting; once, at the end of every test.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }
}
