#if os(Linux)
    import CordonBase
    import CordonTestSupport
    import Crypto
    import Foundation

    @testable import Cordon

    /// What a counter asks of a TPM 2, over a socket as the emulator has one. It counts in memory, takes every proof, and can be cut off at an
    /// increment, which is for the caller as if it was killed there.
    final class PretendTPM: Sendable {
        private struct State {
            /// Nil where there is no counter, 0 before it has gone up once.
            var value: UInt64?
            var password: [UInt8]
            let first: UInt64
            /// How many more increments until the one that is cut off; nil for none.
            var left: Int?
            /// Whether that one is counted.
            var isCounted = false
        }

        private let socket: TPMSocket
        private let state: Locked<State>
        var folder: URL { socket.folder }
        /// Where it listens.
        var place: URL { socket.place }

        /// - Parameters:
        ///   - value: The counter's; nil where there is none yet.
        ///   - password: That counter's.
        ///   - first: What it goes up to when it goes up for the first time.
        init(value: UInt64? = nil, password: [UInt8] = [], first: UInt64 = 1000) throws {
            let state = Locked(State(value: value, password: password, first: first))
            self.state = state
            socket = try TPMSocket { PretendTPM.answer(to: $0, state) }
        }

        var value: UInt64? { state.withLock { $0.value } }

        /// Cuts the caller off at an increment from now on, before or after it was counted; nil for none.
        func cut(at increment: Int?, isCounted: Bool = false) {
            state.withLock { state in
                state.left = increment
                state.isCounted = isCounted
            }
        }

        // MARK: The commands

        private static func answer(to command: [UInt8], _ state: Locked<State>) -> [UInt8]? {
            let code = TPMSocket.code(of: command)
            return state.withLock { state -> [UInt8]? in
                switch code {
                case 0x12A:
                    guard state.value == nil else { return refusal(0x14C) }
                    state.value = 0
                    // Owner, and the session of an empty password.
                    var rest = TPMBytes(command.dropFirst(14))
                    _ = rest.longSized()
                    state.password = rest.sized() ?? []
                    return success(0x8002, TPMBytes.longSized([]) + [0, 0, 1, 0, 0])
                case 0x165: return success(0x8001, [])
                case 0x176: return success(0x8001, [2, 0, 0, 0] + TPMBytes.sized(nonce))
                case 0x169:
                    guard let value = state.value else { return refusal(0x18B) }
                    let attributes: [UInt8] = [value > 0 ? 0x22 : 0x02, 0x04, 0, 0x14]
                    let area = command[10..<14] + [0, 0x0B] + attributes + [0, 0, 0, 8]
                    return success(0x8001, TPMBytes.sized(Array(area)) + TPMBytes.sized([]))
                case 0x134:
                    guard let before = state.value else { return refusal(0x18B) }
                    let isCut = state.left == 1
                    state.left = isCut ? nil : state.left.map { $0 - 1 }
                    if !isCut || state.isCounted { state.value = before == 0 ? state.first : before + 1 }
                    return isCut ? nil : proved([], command, by: state.password)
                case 0x14E:
                    guard let value = state.value else { return refusal(0x18B) }
                    guard value > 0 else { return refusal(0x14A) }
                    return proved(withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) }, command, by: state.password)
                default: return refusal(0x143)
                }
            }
        }

        private static let nonce = [UInt8](repeating: 7, count: 32)

        /// The bytes, hidden where the command asks for that, with a proof of the password.
        private static func proved(_ bytes: [UInt8], _ command: [UInt8], by password: [UInt8]) -> [UInt8]? {
            // Header, two handles, length and handle of the session.
            var rest = TPMBytes(command.dropFirst(26))
            guard let callers = rest.sized(), let attributes = rest.take(1) else { return nil }
            let key = SymmetricKey(data: Array(password.reversed().drop { $0 == 0 }.reversed()))
            let hidden = try? TPMConversation.translated(
                TPMBytes.sized(bytes), key: key, newer: nonce, older: callers, hides: true)
            guard let parameters = bytes.isEmpty ? [] : hidden else { return nil }
            let digest = Array(SHA256.hash(data: [0, 0, 0, 0] + command[6..<10] + parameters))
            let proof = HMAC<SHA256>.authenticationCode(for: digest + nonce + callers + attributes, using: key)
            let session = TPMBytes.sized(nonce) + attributes + TPMBytes.sized(Array(proof))
            return success(0x8002, TPMBytes.longSized(parameters) + session)
        }

        private static func success(_ tag: UInt16, _ body: [UInt8]) -> [UInt8] {
            TPMBytes.short(tag) + TPMBytes.long(UInt32(10 + body.count)) + TPMBytes.long(0) + body
        }

        private static func refusal(_ code: UInt32) -> [UInt8] {
            TPMBytes.short(0x8001) + TPMBytes.long(10) + TPMBytes.long(code)
        }
    }
#endif
