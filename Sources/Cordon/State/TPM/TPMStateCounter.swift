#if os(Linux)
    internal import CordonProtocol
    public import CordonVault
    internal import Crypto
    public import Foundation

    /// Numbers whose newest state a TPM 2 tells: a file holds them, sealed, with the value of a counter in the TPM, which goes up with every change
    /// and never down. An older copy of the file, also with everything else that the app and its user can write, is recognised.
    ///
    /// For ``ProtectionConfiguration/stateCounter`` on Linux. One counter in the TPM for each app and user; all processes of the app give the same
    /// arguments. A file that is older, damaged or gone counts as lost: nothing can be told of any number, and the next change starts over with none, so that the person signs in
    /// afresh. Each change writes the TPM once. Any thread may call; a call takes some milliseconds, and waits for other processes.
    public struct TPMStateCounter: StateCounter {
        private static let info = Data("cordon-tpm-counter-1".utf8)

        private let counter: TPMCounter
        private let folder: StateFolder
        private let key: SymmetricKey
        private let ownerPassword: [UInt8]

        /// Opens the counter; nothing is asked of the TPM yet.
        ///
        /// - Parameters:
        ///   - directory: Where the file lies, made where needed; a copy of it may be put back at any time.
        ///   - keyStore: The device's; its root key gives the file's seal and the counter's password.
        ///   - index: Where the counter is in the TPM: one that no other program has, from 0x01800000 to 0x01BFFFFF. It is made at the first change.
        ///   - device: The kernel's resource manager, which the app's user may read and write; or the socket of an emulator.
        ///   - ownerPassword: The password of the TPM's owner, for making the counter; mostly there is none.
        /// - Throws: ``ProtectionError``: `invalidConfiguration` for another index, `stateUnwritable`, or what the key store says.
        public init(
            directory: URL, keyStore: any KeyStore, index: UInt32 = 0x0180_C04D, device: String = "/dev/tpmrm0",
            ownerPassword: String = ""
        ) throws(ProtectionError) {
            guard (0x0180_0000...0x01BF_FFFF).contains(index) else {
                throw ProtectionError(
                    .invalidConfiguration, "the TPM's index is none that an owner gives away",
                    hint: "Take one from 0x01800000 to 0x01BFFFFF.")
            }
            let root: SymmetricKey
            do { root = try keyStore.rootKey() } catch { throw ProtectionError(error) }
            func derived(_ purpose: String) -> SymmetricKey {
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: root, salt: withUnsafeBytes(of: index.bigEndian) { Data($0) },
                    info: Self.info + Data(purpose.utf8), outputByteCount: 32)
            }
            folder = try StateFolder(given: directory)
            key = derived("file")
            counter = TPMCounter(
                channel: TPMChannel(path: device), index: index,
                password: derived("password").withUnsafeBytes { Array($0) })
            self.ownerPassword = Array(ownerPassword.utf8)
        }

        /// True: no copy of what lies on a disk holds the TPM's counter.
        public var survivesRestore: Bool { true }

        /// The highest number noted under a name.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`: the TPM does not answer, or the file is not the one that was written last.
        public func value(of name: String) throws(ProtectionError) -> Int64 {
            try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
                let tick = try counter.value()
                guard let numbers = try numbers(at: tick) else {
                    throw ProtectionError(.stateUnreadable, "the numbers are not those that the TPM has counted last")
                }
                return numbers[name] ?? 0
            }
        }

        /// Notes a number, durably. The first change ever makes the TPM's counter.
        ///
        /// - Throws: ``ProtectionError``: `stateUnwritable`, also where the TPM's owner has another password; `stateUnreadable` where
        ///   the TPM does not answer.
        public func raise(_ name: String, to number: Int64) throws(ProtectionError) {
            try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
                var tick = try counter.value()
                var numbers = try numbers(at: tick) ?? [:]
                guard number > (numbers[name] ?? 0) else { return }
                numbers[name] = number
                if tick == nil {
                    try counter.define(ownerPassword: ownerPassword)
                    tick = 0
                }
                if tick == 0 {
                    // The first time it goes up, it goes above every counter that the TPM ever had.
                    try counter.increment()
                    tick = try counter.value()
                }
                guard let tick, (1..<UInt64.max).contains(tick) else {
                    throw ProtectionError(.stateUnwritable, "the TPM has made no counter")
                }
                // Written before it counts: a kill in between leaves a file that is one ahead, and is taken.
                try write(numbers, tick: tick + 1)
                try counter.increment()
            }
        }

        // MARK: The file

        private struct Counted: Codable {
            /// The counter's value once the file counts.
            var tick: UInt64
            var numbers: [String: Int64]
        }

        private var file: StateFile { folder.file("tpm") }

        /// What the file holds; empty where there is none and the counter never went up, nil where it is not the file that was written last.
        ///
        /// Settles what a kill has left: the file is one ahead, and the counter follows.
        private func numbers(at tick: UInt64?) throws(ProtectionError) -> [String: Int64]? {
            guard let bytes = try file.read() else { return (tick ?? 0) == 0 ? [:] : nil }
            guard let tick, let box = try? AES.GCM.SealedBox(combined: bytes),
                let plain = try? AES.GCM.open(box, using: key, authenticating: Self.info),
                let counted = try? MessageCoding.decode(Counted.self, from: plain)
            else { return nil }
            if counted.tick == tick { return counted.numbers }
            guard counted.tick > 0, counted.tick - 1 == tick else { return nil }
            try counter.increment()
            return counted.numbers
        }

        private func write(_ numbers: [String: Int64], tick: UInt64) throws(ProtectionError) {
            guard let plain = try? MessageCoding.encode(Counted(tick: tick, numbers: numbers)),
                let bytes = try? AES.GCM.seal(plain, using: key, authenticating: Self.info).combined
            else { throw ProtectionError(.stateUnwritable, "the numbers have no stored form") }
            try file.write(bytes)
        }
    }
#endif
