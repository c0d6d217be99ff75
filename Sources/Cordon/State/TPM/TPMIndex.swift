#if os(Linux)
    internal import CordonBase
    internal import Crypto

    /// One index of a TPM 2: memory of the TPM that outlives its power (TCG TPM 2.0 Library, part 3, chapter 31), as a counter or as bytes.
    ///
    /// Its password allows using it and goes to the TPM once, when it is defined. Wrong passwords do not lock it.
    struct TPMIndex: Sendable {
        /// What it holds.
        enum Kind: Sendable {
            /// A number of 8 bytes: it goes up by one, never down, and one that is made again after its removal begins above every one that ever was.
            case counter
            /// That many bytes.
            case bytes(Int)
        }

        /// What is found in its place.
        enum Content {
            case absent
            /// It was defined and never written, or never counted up.
            case unwritten
            case bytes([UInt8])
            /// It has another form or another password; with what to say of that.
            case foreign(ProtectionError)
        }

        private enum Command {
            static let define: UInt32 = 0x12A
            static let increment: UInt32 = 0x134
            static let write: UInt32 = 0x137
            static let read: UInt32 = 0x14E
            static let readPublic: UInt32 = 0x169
        }

        enum Code {
            /// The first handle names nothing.
            static let nothing: UInt32 = 0x18B
            static let alreadyThere: UInt32 = 0x14C
            /// The password is another one, of the first session.
            static let wrongPassword: Set<UInt32> = [0x98E, 0x9A2]
        }

        static let owner: UInt32 = 0x4000_0001
        private static let isCounter: UInt32 = 0x10
        private static let isWritten: UInt32 = 0x2000_0000
        /// Its password allows reading and writing it; wrong passwords do not lock it.
        private static let attributes: UInt32 = 0x4 | 0x4_0000 | 0x200_0000

        /// The kernel's resource manager, or the socket of an emulator.
        let device: String
        /// Where it stands, among the indexes that an owner gives away.
        let handle: UInt32
        let kind: Kind
        let password: [UInt8]

        /// The indexes that an owner gives away.
        static let ofOwners: ClosedRange<UInt32> = 0x0180_0000...0x01BF_FFFF

        /// What is in its place.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
        func content() throws(ProtectionError) -> Content {
            let conversation = try TPMConversation(device: device)
            guard let area = try area(conversation) else { return .absent }
            guard let isWritten = [false, true].first(where: { area == publicArea(isWritten: $0) }) else {
                return .foreign(foreign(.stateUnreadable, "it has another form"))
            }
            guard isWritten else { return .unwritten }
            let answer = try conversation.ask(
                Command.read, of: [handle, handle], name: Self.name(area), password: password,
                TPMBytes.short(size) + TPMBytes.short(0), hiding: .inAnswer)
            if Code.wrongPassword.contains(answer.code) {
                return .foreign(foreign(.stateUnreadable, "it has another password"))
            }
            try check(answer.code, .stateUnreadable)
            var rest = TPMBytes(answer.parameters[...])
            guard let bytes = rest.sized(), rest.isEmpty, bytes.count == Int(size) else {
                throw ProtectionError(.stateUnreadable, "the TPM gives not all of the index")
            }
            return .bytes(bytes)
        }

        /// Makes it; it holds nothing before it was written, or counted up, once.
        ///
        /// - Parameter ownerPassword: The TPM's owner's; mostly empty.
        /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
        func define(ownerPassword: [UInt8]) throws(ProtectionError) {
            let parameters = TPMBytes.sized(password) + TPMBytes.sized(publicArea(isWritten: false))
            let code = try TPMConversation(device: device)
                .ask(Command.define, of: [Self.owner], password: ownerPassword, parameters).code
            if Code.wrongPassword.contains(code) { throw Self.otherOwner }
            // Another process may have made it by now.
            if code != Code.alreadyThere { try check(code, .stateUnwritable) }
        }

        /// What to say where the owner's password is another one.
        static var otherOwner: ProtectionError {
            ProtectionError(
                .stateUnwritable, "the TPM's owner has another password",
                hint: "Give the owner's password, or have the machine's administrator do it once.")
        }

        /// Counts up by one; when this returns it is durable.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
        func increment() throws(ProtectionError) { try change(Command.increment, [], hiding: .none) }

        /// Replaces some of its bytes; when this returns they are durable.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
        func write(_ bytes: [UInt8], at offset: Int = 0) throws(ProtectionError) {
            try change(
                Command.write, TPMBytes.sized(bytes) + TPMBytes.short(UInt16(truncatingIfNeeded: offset)),
                hiding: .inCommand)
        }

        private func change(
            _ command: UInt32, _ parameters: [UInt8], hiding secret: TPMConversation.Secret
        ) throws(ProtectionError) {
            let conversation = try TPMConversation(device: device)
            guard let area = try area(conversation) else {
                throw ProtectionError(.stateUnwritable, "the TPM has no index \(place)")
            }
            let answer = try conversation.ask(
                command, of: [handle, handle], name: Self.name(area), password: password, parameters, hiding: secret)
            try check(answer.code, .stateUnwritable)
        }

        // MARK: What it was defined as

        private var size: UInt16 {
            switch kind {
            case .counter: 8
            case .bytes(let count): UInt16(truncatingIfNeeded: count)
            }
        }

        /// Its handle as people write it.
        var place: String { "0x0" + String(handle, radix: 16) }

        /// What it was defined as, as the TPM says it; nil where there is no index.
        private func area(_ conversation: TPMConversation) throws(ProtectionError) -> [UInt8]? {
            let answer = try conversation.ask(Command.readPublic, TPMBytes.long(handle))
            if answer.code == Code.nothing { return nil }
            try check(answer.code, .stateUnreadable)
            var rest = TPMBytes(answer.parameters[...])
            guard let area = rest.sized() else {
                throw ProtectionError(.stateUnreadable, "the TPM says nothing of the index \(place)")
            }
            return area
        }

        /// What every proof is about, so that it acts on no other index.
        private static func name(_ area: [UInt8]) -> [UInt8] { TPMBytes.short(0x000B) + SHA256.hash(data: area) }

        /// Place, digest (SHA-256), attributes, no policy, and size.
        private func publicArea(isWritten: Bool) -> [UInt8] {
            var attributes = Self.attributes
            if case .counter = kind { attributes |= Self.isCounter }
            if isWritten { attributes |= Self.isWritten }
            return TPMBytes.long(handle) + TPMBytes.short(0x000B) + TPMBytes.long(attributes) + TPMBytes.short(0)
                + TPMBytes.short(size)
        }

        private func check(_ code: UInt32, _ kind: ProtectionError.Code) throws(ProtectionError) {
            guard code != 0 else { return }
            if Code.wrongPassword.contains(code) { throw foreign(kind, "it has another password") }
            let text = "0x" + String(code, radix: 16)
            throw ProtectionError(kind, "the TPM answers \(text)", hint: "Run tpm2_rc_decode \(text).")
        }

        private func foreign(_ kind: ProtectionError.Code, _ why: String) -> ProtectionError {
            ProtectionError(
                kind, "the TPM's index \(place) is another program's: \(why)",
                hint: "Take another index, or remove that one where nothing needs it (tpm2_nvundefine).")
        }
    }
#endif
