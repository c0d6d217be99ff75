#if os(Linux)
    import CordonTestSupport
    import Foundation

    /// A socket on which a test answers commands to a TPM, as an emulator does.
    final class TPMSocket: Sendable {
        private struct Failure: Error { let call: String }

        /// Removed with the socket.
        let folder: URL
        /// Where it listens.
        var place: URL { folder.appending(path: "tpm") }
        private let listener: Int32

        /// - Parameter answer: The answer to a command; nil cuts the caller off.
        init(_ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?) throws {
            folder = try TemporaryFolder.make()
            let listener = try Self.listening(at: folder.appending(path: "tpm").path)
            self.listener = listener
            Thread.detachNewThread { TPMSocket.serve(listener, answer) }
        }

        deinit {
            // The thread closes it.
            shutdown(listener, Int32(SHUT_RDWR))
            TemporaryFolder.remove(folder)
        }

        private static func listening(at path: String) throws -> Int32 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw Failure(call: "socket") }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Failure(call: "path") }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            guard isBound, listen(descriptor, 16) == 0 else {
                close(descriptor)
                throw Failure(call: "bind")
            }
            return descriptor
        }

        /// Serves one connection after the other until nobody is to connect any more.
        private static func serve(_ listener: Int32, _ answer: ([UInt8]) -> [UInt8]?) {
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0, errno == EINTR { continue }
                guard connection >= 0 else { break }
                while let command = command(from: connection), let answer = answer(command) {
                    _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
                }
                close(connection)
            }
            close(listener)
        }

        private static func command(from connection: Int32) -> [UInt8]? {
            var command: [UInt8] = []
            while command.count < 10 || command.count < number(command[2..<6]) {
                var piece = [UInt8](repeating: 0, count: 4096)
                let count = recv(connection, &piece, piece.count, 0)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return nil }
                command += piece.prefix(count)
            }
            return command
        }

        /// Which command it is.
        static func code(of command: [UInt8]) -> Int { number(command[6..<10]) }

        static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
    }
#endif
