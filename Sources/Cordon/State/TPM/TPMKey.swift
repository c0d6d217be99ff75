#if os(Linux)
    internal import CordonBase
    internal import Crypto
    internal import Foundation

    /// One key of a TPM 2 that signs (P-256, ES256), made in it and kept in it under a handle that outlives its power; nothing gets it out.
    struct TPMKey: Sendable {
        private enum Command {
            static let keep: UInt32 = 0x120
            static let makePrimary: UInt32 = 0x131
            static let sign: UInt32 = 0x15D
            static let readPublic: UInt32 = 0x173
        }

        /// The handles that an owner gives away.
        static let ofOwners: ClosedRange<UInt32> = 0x8100_0000...0x817F_FFFF

        /// A point of P-256, and the code by which the TPM knows the key that has it.
        struct Public {
            let point: Data
            fileprivate let name: [UInt8]
        }

        /// The kernel's resource manager, or the socket of an emulator.
        let device: String
        let handle: UInt32
        let password: [UInt8]

        /// The public half; nil where there is no key. Whose key it is shows when it signs.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`, also for a key of another form.
        func found() throws(ProtectionError) -> Public? {
            let answer = try TPMConversation(device: device).ask(Command.readPublic, TPMBytes.long(handle))
            if answer.code == TPMIndex.Code.nothing { return nil }
            try check(answer.code)
            var rest = TPMBytes(answer.parameters[...])
            guard let area = rest.sized(), area.starts(with: Self.form) else { throw foreign }
            var unique = TPMBytes(area.dropFirst(Self.form.count))
            guard let x = unique.sized(), let y = unique.sized(), unique.isEmpty, x.count <= 32, y.count <= 32 else {
                throw foreign
            }
            return Public(
                point: Data(Self.padded(x) + Self.padded(y)),
                name: TPMBytes.short(0x000B) + SHA256.hash(data: area))
        }

        /// Makes a new key and keeps it under the handle, unless there is one.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
        func make(ownerPassword: [UInt8]) throws(ProtectionError) {
            let conversation = try TPMConversation(device: device)
            // Who makes a primary key of the same form gets the same key, so a part of the form is random, and forgotten.
            let random = (0..<2).flatMap { _ in
                TPMBytes.sized(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
            }
            let secret = TPMBytes.sized(TPMBytes.sized(password) + TPMBytes.sized([]))
            // No data from outside, and no state of the machine.
            let parameters = secret + TPMBytes.sized(Self.form + random) + TPMBytes.sized([]) + TPMBytes.long(0)
            let made = try conversation.ask(
                Command.makePrimary, of: [TPMIndex.owner], password: ownerPassword, parameters)
            if TPMIndex.Code.wrongPassword.contains(made.code) { throw TPMIndex.otherOwner }
            try check(made.code)
            let key = Array(made.parameters.prefix(4))
            guard key.count == 4 else { throw ProtectionError(.stateUnwritable, "the TPM made no key") }
            defer { conversation.forget(key) }
            let kept = try conversation.ask(
                Command.keep, of: [TPMIndex.owner, key.reduce(0) { $0 << 8 | UInt32($1) }], password: ownerPassword,
                TPMBytes.long(handle))
            // Another process may have made it by now.
            if kept.code != TPMIndex.Code.alreadyThere { try check(kept.code) }
        }

        /// The signature over a digest: r and s, 32 bytes each.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`, also where the key has another password.
        func signature(over digest: [UInt8], by key: Public) throws(ProtectionError) -> Data {
            // The scheme is the key's; the digest may be one that the TPM did not make itself.
            let ticket = TPMBytes.short(0x8024) + TPMBytes.long(0x4000_0007) + TPMBytes.sized([])
            let answer = try TPMConversation(device: device).ask(
                Command.sign, of: [handle], name: key.name, password: password,
                TPMBytes.sized(digest) + TPMBytes.short(Self.none) + ticket, hiding: .none)
            try check(answer.code)
            var rest = TPMBytes(answer.parameters[...])
            guard rest.take(4) == Self.scheme, let r = rest.sized(), let s = rest.sized(), rest.isEmpty, r.count <= 32,
                s.count <= 32
            else { throw ProtectionError(.stateUnreadable, "the TPM gives no signature") }
            return Data(Self.padded(r) + Self.padded(s))
        }

        private static let none: UInt16 = 0x0010
        /// ECDSA with SHA-256.
        private static let scheme = TPMBytes.short(0x0018) + TPMBytes.short(0x000B)

        /// What comes before the point: an elliptic key that signs and nothing else, stays in this TPM, was made there, needs its password, and is not
        /// locked by wrong ones; no policy, no cipher, the scheme, P-256, no derivation.
        private static let form: [UInt8] =
            TPMBytes.short(0x0023) + TPMBytes.short(0x000B) + TPMBytes.long(0x0004_0472) + TPMBytes.sized([])
            + TPMBytes.short(none) + scheme + TPMBytes.short(0x0003) + TPMBytes.short(none)

        private static func padded(_ number: [UInt8]) -> [UInt8] {
            [UInt8](repeating: 0, count: 32 - number.count) + number
        }

        private var foreign: ProtectionError {
            ProtectionError(
                .stateUnreadable, "the TPM's key 0x\(String(handle, radix: 16)) is another program's",
                hint: "Take another handle, or remove that key where nothing needs it (tpm2_evictcontrol).")
        }

        private func check(_ code: UInt32) throws(ProtectionError) {
            guard code != 0 else { return }
            if TPMIndex.Code.wrongPassword.contains(code) { throw foreign }
            let text = "0x" + String(code, radix: 16)
            throw ProtectionError(
                .stateUnreadable, "the TPM answers \(text)", hint: "Run tpm2_rc_decode \(text).")
        }
    }
#endif
