#if os(Linux)
    import CordonBase
    import CordonTestSupport
    import Foundation

    /// What a counter asks of a TPM 2, over a socket as the emulator has one. It counts in memory, takes every password, and can be cut off at an
    /// increment, which is for the caller as if it was killed there.
    final class PretendTPM: Sendable {
        private struct State {
            /// Nil where there is no counter, 0 before it has gone up once.
            var value: UInt64?
            let first: UInt64
            /// How many more increments until the one that is cut off; nil for none.
            var left: Int?
            /// Whether that one is counted.
            var isCounted = false
        }

        private struct Failure: Error { let call: String }

        let folder: URL
        /// Where it listens.
        var place: URL { folder.appending(path: "tpm") }
        private let listener: Int32
        private let state: Locked<State>

        /// - Parameters:
        ///   - value: The counter's; nil where there is none yet.
        ///   - first: What it goes up to when it goes up for the first time.
        init(value: UInt64? = nil, first: UInt64 = 1000) throws {
            folder = try TemporaryFolder.make()
            let listener = try Self.listening(at: folder.appending(path: "tpm").path)
            let state = Locked(State(value: value, first: first))
            self.listener = listener
            self.state = state
            Thread.detachNewThread { PretendTPM.serve(listener, state) }
        }

        deinit {
            // The thread closes it.
            shutdown(listener, Int32(SHUT_RDWR))
            TemporaryFolder.remove(folder)
        }

        var value: UInt64? { state.withLock { $0.value } }

        /// Cuts the caller off at an increment from now on, before or after it was counted; nil for none.
        func cut(at increment: Int?, isCounted: Bool = false) {
            state.withLock { state in
                state.left = increment
                state.isCounted = isCounted
            }
        }

        // MARK: The socket

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

        /// Answers one command a connection until nobody is to connect any more.
        private static func serve(_ listener: Int32, _ state: Locked<State>) {
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0, errno == EINTR { continue }
                guard connection >= 0 else { break }
                if let command = command(from: connection), let answer = answer(to: command, state) {
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

        // MARK: The commands

        private static func answer(to command: [UInt8], _ state: Locked<State>) -> [UInt8]? {
            let code = number(command[6..<10])
            return state.withLock { state -> [UInt8]? in
                switch code {
                case 0x12A:
                    guard state.value == nil else { return refusal(0x14C) }
                    state.value = 0
                    return success([])
                case 0x134:
                    guard let before = state.value else { return refusal(0x18B) }
                    let isCut = state.left == 1
                    state.left = isCut ? nil : state.left.map { $0 - 1 }
                    if !isCut || state.isCounted { state.value = before == 0 ? state.first : before + 1 }
                    return isCut ? nil : success([])
                case 0x14E:
                    guard let value = state.value else { return refusal(0x18B) }
                    guard value > 0 else { return refusal(0x14A) }
                    let bytes = withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) }
                    return success([0, 8] + bytes)
                default: return refusal(0x143)
                }
            }
        }

        /// The parameters with their length, and the session of a password.
        private static func success(_ parameters: [UInt8]) -> [UInt8] {
            let body = long(parameters.count) + parameters + [0, 0, 1, 0, 0]
            return [0x80, 0x02] + long(10 + body.count) + long(0) + body
        }

        private static func refusal(_ code: Int) -> [UInt8] { [0x80, 0x01] + long(10) + long(code) }

        private static func long(_ number: Int) -> [UInt8] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { [UInt8]($0) }
        }

        private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
    }
#endif
