#if os(Linux)
    internal import CordonBase
    internal import Crypto
    internal import CryptoExtras
    internal import Foundation

    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

    /// Commands to a TPM 2 and its answers, over one opening of it (TCG TPM 2.0 Library, part 1, chapters 18 to 21).
    ///
    /// Where a password authorises a command, it is proved and not sent: a session of its own for each command, whose key is the password,
    /// authenticates command and answer, and hides what is secret in one of them. So an answer is the TPM's, and this command's, unless whoever
    /// gave it knows the password.
    struct TPMConversation {
        /// What the TPM said: its code, and what follows that where the code is 0.
        struct Answer {
            let code: UInt32
            let parameters: [UInt8]
        }

        /// The first parameter of a command, or of its answer, which nobody on the way may see.
        enum Secret: UInt8 {
            case none = 0
            case inCommand = 0x20
            case inAnswer = 0x40
        }

        private enum Command {
            static let flush: UInt32 = 0x165
            static let startSession: UInt32 = 0x176
        }

        /// Busy with something else, mostly for less than a second, or sparing its memory from being written so often.
        private static let again: Set<UInt32> = [0x908, 0x90A, 0x920, 0x922]
        /// How long a command is given again. Whoever waits for the answer waits with a lock held.
        private static let patience = Duration.seconds(10)
        private static let nobody: UInt32 = 0x4000_0007
        private static let passwordSession: UInt32 = 0x4000_0009
        private static let sha256: UInt16 = 0x000B
        private static let aes: UInt16 = 0x0006
        private static let cfb: UInt16 = 0x0043

        private let channel: TPMChannel

        /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
        init(device: String) throws(ProtectionError) { channel = try TPMChannel(path: device) }

        /// Gives a command that needs no authorisation.
        func ask(_ command: UInt32, _ body: [UInt8]) throws(ProtectionError) -> Answer {
            let answer = try exchange(0x8001, command, body)
            return Answer(code: Self.code(of: answer), parameters: Array(answer[10...]))
        }

        /// Gives a command with a password as it is, which who listens on the way can read; nothing proves the answer.
        func ask(
            _ command: UInt32, of handles: [UInt32], password: [UInt8], _ parameters: [UInt8]
        ) throws(ProtectionError) -> Answer {
            let session = TPMBytes.long(Self.passwordSession) + [0, 0, 1] + TPMBytes.sized(password)
            let body = handles.flatMap(TPMBytes.long) + TPMBytes.longSized(session) + parameters
            let answer = try exchange(0x8002, command, body)
            return Answer(code: Self.code(of: answer), parameters: Array(answer[10...]))
        }

        /// Forgets a session, or a key that was loaded.
        func forget(_ handle: [UInt8]) { _ = try? ask(Command.flush, handle) }

        /// Gives a command that acts on an index or a key by its own password.
        ///
        /// - Parameters:
        ///   - handles: Its handle, as often as the command names it.
        ///   - name: The digest of what it was made as, so that the command acts on no other.
        ///   - secret: What to hide: bytes with their length in front.
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`, also where what answers does not know the password.
        func ask(
            _ command: UInt32, of handles: [UInt32], name: [UInt8], password: [UInt8], _ parameters: [UInt8],
            hiding secret: Secret
        ) throws(ProtectionError) -> Answer {
            let (session, begun) = try self.session()
            // The TPM's own form of a password has no zeros at its end.
            let key = SymmetricKey(data: Array(password.reversed().drop { $0 == 0 }.reversed()))
            let nonce = Self.nonce()
            let sent =
                secret == .inCommand
                ? try Self.translated(parameters, key: key, newer: nonce, older: begun, hides: true) : parameters
            let digest = SHA256.hash(data: TPMBytes.long(command) + handles.flatMap { _ in name } + sent)
            let proof = HMAC<SHA256>.authenticationCode(
                for: Array(digest) + nonce + begun + [secret.rawValue], using: key)
            let authorisation =
                session + TPMBytes.sized(nonce) + [secret.rawValue] + TPMBytes.sized(Array(proof))
            let body = handles.flatMap(TPMBytes.long) + TPMBytes.longSized(authorisation) + sent
            let answer = try exchange(0x8002, command, body)
            let code = Self.code(of: answer)
            guard code == 0 else {
                // The kernel ends the session with the opening; an emulator keeps it.
                forget(session)
                return Answer(code: code, parameters: [])
            }
            var rest = TPMBytes(answer.dropFirst(10))
            guard let received = rest.longSized(), let newer = rest.sized(), let attributes = rest.take(1),
                let theirs = rest.sized(), rest.isEmpty
            else { throw stranger }
            let said = Array(SHA256.hash(data: TPMBytes.long(0) + TPMBytes.long(command) + received))
            guard
                HMAC<SHA256>.isValidAuthenticationCode(
                    theirs, authenticating: said + newer + nonce + attributes, using: key)
            else { throw stranger }
            guard secret == .inAnswer else { return Answer(code: 0, parameters: received) }
            return Answer(
                code: 0,
                parameters: try Self.translated(received, key: key, newer: newer, older: nonce, hides: false))
        }

        private var stranger: ProtectionError {
            ProtectionError(
                .stateUnreadable, "what answers at \(channel.path) does not know the password that it needs",
                hint:
                    "It is not the TPM that has the index or key, or something stands between; look at who owns the device."
            )
        }

        // MARK: Sessions

        /// A session that hangs on no key and no entity: its key is the password of what it authorises.
        private func session() throws(ProtectionError) -> (handle: [UInt8], nonce: [UInt8]) {
            let handles = TPMBytes.long(Self.nobody) + TPMBytes.long(Self.nobody)
            let form = [Self.aes, 128, Self.cfb, Self.sha256].flatMap(TPMBytes.short)
            // No salt; type 0, which authenticates by a code.
            let answer = try ask(
                Command.startSession, handles + TPMBytes.sized(Self.nonce()) + TPMBytes.sized([]) + [0] + form)
            var rest = TPMBytes(answer.parameters[...])
            guard answer.code == 0, let handle = rest.take(4), let nonce = rest.sized() else {
                throw ProtectionError(
                    .stateUnreadable, "the TPM begins no session and answers 0x" + String(answer.code, radix: 16))
            }
            return (handle, nonce)
        }

        /// Hides the first parameter, or shows it (part 1, chapter 21.3): AES-128-CFB under what the key and both nonces give.
        static func translated(
            _ parameters: [UInt8], key: SymmetricKey, newer: [UInt8], older: [UInt8], hides: Bool
        ) throws(ProtectionError) -> [UInt8] {
            let text = TPMBytes.long(1) + Array("CFB\0".utf8) + newer + older + TPMBytes.long(256)
            let made = Array(HMAC<SHA256>.authenticationCode(for: text, using: key))
            let cipher = SymmetricKey(data: made.prefix(16))
            var rest = TPMBytes(parameters[...])
            guard let first = rest.sized(), let start = try? AES._CFB.IV(ivBytes: made.suffix(16)),
                let other = try? hides
                    ? AES._CFB.encrypt(first, using: cipher, iv: start)
                    : AES._CFB.decrypt(first, using: cipher, iv: start)
            else { throw ProtectionError(.stateUnreadable, "what the TPM is told or tells cannot be hidden") }
            return TPMBytes.sized(Array(other)) + parameters.dropFirst(2 + first.count)
        }

        private static func nonce() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }

        // MARK: The form of commands and answers

        private func exchange(
            _ tag: UInt16, _ command: UInt32, _ body: [UInt8]
        ) throws(ProtectionError) -> [UInt8] {
            let length = TPMBytes.long(UInt32(truncatingIfNeeded: body.count + 10))
            let whole = TPMBytes.short(tag) + length + TPMBytes.long(command) + body
            let end = ContinuousClock.now + Self.patience
            repeat {
                let answer = try channel.answer(to: whole)
                guard Self.again.contains(Self.code(of: answer)) else { return answer }
                usleep(10_000)
            } while ContinuousClock.now < end
            throw ProtectionError(.stateUnreadable, "the TPM is busy")
        }

        private static func code(of answer: [UInt8]) -> UInt32 { answer[6..<10].reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// Numbers and runs of bytes as a TPM writes them, and what is still to be read of an answer.
    struct TPMBytes {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        var isEmpty: Bool { rest.isEmpty }

        mutating func take(_ count: Int) -> [UInt8]? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }

        /// Bytes with their count before them, in two bytes.
        mutating func sized() -> [UInt8]? { take(2).flatMap { take($0.reduce(0) { $0 << 8 | Int($1) }) } }

        /// The same with four bytes for the count.
        mutating func longSized() -> [UInt8]? { take(4).flatMap { take($0.reduce(0) { $0 << 8 | Int($1) }) } }

        static func short(_ number: UInt16) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        static func long(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        static func sized(_ bytes: [UInt8]) -> [UInt8] { short(UInt16(truncatingIfNeeded: bytes.count)) + bytes }
        static func longSized(_ bytes: [UInt8]) -> [UInt8] {
            long(UInt32(truncatingIfNeeded: bytes.count)) + bytes
        }
    }
#endif
