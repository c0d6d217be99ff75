#if os(Linux)
    internal import CordonBase
    internal import Foundation

    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

    /// One counter in a TPM 2 (TCG TPM 2.0 Library, part 3, chapter 31): it counts up by one, never down, and one that is made again after its removal
    /// begins above every one that ever was.
    ///
    /// The password goes to the TPM as it is: an attacker who listens on the bus between processor and TPM learns it, and could count up.
    struct TPMCounter: Sendable {
        private enum Command {
            static let defineSpace: UInt32 = 0x12A
            static let increment: UInt32 = 0x134
            static let read: UInt32 = 0x14E
        }

        private enum Answer {
            static let done: UInt32 = 0
            /// The first handle names nothing.
            static let noSuchIndex: UInt32 = 0x18B
            /// It was made and never counted up.
            static let uninitialised: UInt32 = 0x14A
            static let alreadyDefined: UInt32 = 0x14C
            /// Busy with something else; for less than a second.
            static let again: Set<UInt32> = [0x908, 0x90A, 0x920, 0x922]
            /// The password is another one, of the first session.
            static let wrongPassword: Set<UInt32> = [0x98E, 0x9A2]
        }

        private static let owner: UInt32 = 0x4000_0001
        private static let passwordSession: UInt32 = 0x4000_0009
        /// A counter; its password allows reading it and counting it up; wrong passwords do not lock it.
        private static let attributes: UInt32 = 0x4 | 0x10 | 0x4_0000 | 0x200_0000
        private static let mostTries = 100

        let channel: TPMChannel
        /// Where it stands, among the indexes that an owner gives away: 0x01800000 to 0x01BFFFFF.
        let index: UInt32
        let password: [UInt8]

        /// The value; nil where there is no such counter, 0 for one that was never counted up.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
        func value() throws(ProtectionError) -> UInt64? {
            let (code, answer) = try run(Command.read, [index, index], password, Self.short(8) + Self.short(0))
            switch code {
            case Answer.noSuchIndex: return nil
            case Answer.uninitialised: return 0
            default: try check(code, .stateUnreadable)
            }
            // Length of the parameters (4), of the bytes (2), the bytes, and the session.
            guard answer.count >= 14, answer[4..<6].elementsEqual([0, 8]) else {
                throw ProtectionError(.stateUnreadable, "the TPM's index is not a counter of Cordon's")
            }
            return answer[6..<14].reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// Makes the counter; it has no value before it has gone up once.
        ///
        /// - Parameter ownerPassword: The TPM's owner's; mostly empty.
        /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
        func define(ownerPassword: [UInt8]) throws(ProtectionError) {
            let area =
                Self.long(index) + Self.short(0x000B) + Self.long(Self.attributes) + Self.short(0) + Self.short(8)
            let parameters = Self.sized(password) + Self.sized(area)
            let (code, _) = try run(Command.defineSpace, [Self.owner], ownerPassword, parameters)
            if Answer.wrongPassword.contains(code) {
                throw ProtectionError(
                    .stateUnwritable, "the TPM's owner has another password",
                    hint: "Give the owner's password, or have the machine's administrator do it once.")
            }
            // Another process may have made it by now.
            if code != Answer.alreadyDefined { try check(code, .stateUnwritable) }
        }

        /// Counts up by one; when this returns it is durable.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
        func increment() throws(ProtectionError) {
            try check(try run(Command.increment, [index, index], password, []).code, .stateUnwritable)
        }

        private func check(_ code: UInt32, _ kind: ProtectionError.Code) throws(ProtectionError) {
            guard code != Answer.done else { return }
            let text = "the TPM answers 0x" + String(code, radix: 16)
            if Answer.wrongPassword.contains(code) {
                throw ProtectionError(
                    kind, text + ": the index 0x\(String(index, radix: 16)) is another program's",
                    hint: "Take another index, or remove that one where nothing needs it (tpm2_nvundefine).")
            }
            throw ProtectionError(kind, text, hint: "Run tpm2_rc_decode 0x\(String(code, radix: 16)).")
        }

        // MARK: The form of commands and answers

        private func run(
            _ command: UInt32, _ handles: [UInt32], _ password: [UInt8], _ parameters: [UInt8]
        ) throws(ProtectionError) -> (code: UInt32, parameters: [UInt8]) {
            let session = Self.long(Self.passwordSession) + Self.short(0) + [1] + Self.sized(password)
            let body =
                handles.flatMap(Self.long) + Self.long(UInt32(truncatingIfNeeded: session.count)) + session + parameters
            // Two bytes say that a session follows; then the length of all and what to do.
            let whole = Self.short(0x8002) + Self.long(UInt32(truncatingIfNeeded: body.count + 10)) + Self.long(command)
            for _ in 0..<Self.mostTries {
                let answer = try channel.answer(to: whole + body)
                let code = answer[6..<10].reduce(0) { $0 << 8 | UInt32($1) }
                guard Answer.again.contains(code) else { return (code, Array(answer[10...])) }
                usleep(10_000)
            }
            throw ProtectionError(.stateUnreadable, "the TPM is busy")
        }

        private static func short(_ number: UInt16) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        private static func long(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        private static func sized(_ bytes: [UInt8]) -> [UInt8] {
            short(UInt16(truncatingIfNeeded: bytes.count)) + bytes
        }
    }
#endif
