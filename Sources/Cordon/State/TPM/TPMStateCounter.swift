#if os(Linux)
    internal import CordonBase
    internal import CordonProtocol
    public import CordonVault
    internal import Crypto
    public import Foundation

    /// Numbers whose newest state a TPM 2 tells: a file holds them, sealed, with the value that a counter in the TPM had when it was written. The
    /// counter goes up with every change and never down, so an older copy of the file, also with everything else that the app and its user can
    /// write, is recognised: once ``raise(_:to:)`` has returned, no file counts that was on the disk before, also none of a change that was cut short.
    ///
    /// For ``ProtectionConfiguration/stateCounter`` on Linux. One counter in the TPM for each app and user; all processes of the app give the same
    /// arguments. A kill at any instant loses nothing. A file that is older, damaged or gone counts as lost, also where the counter is gone from the TPM
    /// with it: nothing can be told of any number, and the next change starts over with none, so that the person signs in afresh. Each change
    /// counts up twice. Any thread may call; a call takes some milliseconds, and waits for other processes.
    public struct TPMStateCounter: StateCounter {
        private static let info = Data("cordon-tpm-counter-1".utf8)
        /// What a file is sealed for, so that it is not taken for one of earlier software, which counted otherwise.
        private static let form = Data("cordon-tpm-counter-2".utf8)

        private let counter: TPMIndex
        private let folder: StateFolder
        private let key: SymmetricKey
        private let keyStore: any KeyStore
        /// What the key store is told once there are numbers.
        private let made: KeyStoreName
        private let isMadeNoted = Locked(false)
        private let ownerPassword: [UInt8]

        /// Opens the counter; nothing is asked of the TPM yet.
        ///
        /// - Parameters:
        ///   - directory: Where the file lies, made where needed; a copy of it may be put back at any time.
        ///   - keyStore: The device's; its root key gives the file's seal and the counter's password, and it is told once that there are numbers.
        ///   - index: Where the counter is in the TPM: one that no other program has, from 0x01800000 to 0x01BFFFFF. It is made at the first change.
        ///   - device: The kernel's resource manager, which the app's user may read and write; or the socket of an emulator.
        ///   - ownerPassword: The password of the TPM's owner, for making the counter; mostly there is none.
        /// - Throws: ``ProtectionError``: `invalidConfiguration` for another index, `stateUnwritable`, or what the key store says.
        public init(
            directory: URL, keyStore: any KeyStore, index: UInt32 = 0x0180_C04D, device: String = "/dev/tpmrm0",
            ownerPassword: String = ""
        ) throws(ProtectionError) {
            guard TPMIndex.ofOwners.contains(index) else {
                throw ProtectionError(
                    .invalidConfiguration, "the TPM's index is not one that an owner may define",
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
            made = derived("made").withUnsafeBytes(KeyStoreName.init)
            self.keyStore = keyStore
            counter = TPMIndex(
                device: device, handle: index, kind: .counter,
                password: derived("password").withUnsafeBytes { Array($0) })
            self.ownerPassword = Array(ownerPassword.utf8)
        }

        /// True: no copy of what lies on a disk holds the TPM's counter.
        public var survivesRestore: Bool { true }

        /// The highest number noted under a name. Completes a change that was interrupted by a kill.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`: the TPM does not answer, or the file is not the one that was written last.
        public func value(of name: String) throws(ProtectionError) -> Int64 {
            try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
                let tick = try self.tick()
                guard let found = try look(at: tick) else {
                    throw ProtectionError(.stateUnreadable, "the numbers are not those that the TPM has counted last")
                }
                if let tick, !found.isSettled { try settle(found, at: tick) }
                return found.numbers[name] ?? 0
            }
        }

        /// Notes a number, durably. The first change ever makes the TPM's counter.
        ///
        /// - Throws: ``ProtectionError``: `stateUnwritable`, also where the TPM's owner has another password; `stateUnreadable` where
        ///   the TPM does not answer.
        public func raise(_ name: String, to number: Int64) throws(ProtectionError) {
            _ = try raise(name, to: number) { _ in true }
        }

        /// Notes a number in place of another, durably and as one step.
        ///
        /// - Throws: What ``raise(_:to:)`` throws; `stateUnwritable` also where another process was at the numbers in spite of the lock.
        public func raise(_ name: String, from former: Int64, to number: Int64) throws(ProtectionError) -> Bool {
            try raise(name, to: number) { $0 == former && number > former }
        }

        private func raise(
            _ name: String, to number: Int64, where isExpected: (Int64) -> Bool
        ) throws(ProtectionError) -> Bool {
            try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
                var tick = try self.tick()
                let found = try look(at: tick)
                var numbers = found?.numbers ?? [StateSeal.lostNumbers: 1]
                let before = numbers[name] ?? 0
                guard isExpected(before) else { return false }
                // What a kill has left is brought to its end before anybody is told that its number is there.
                guard number > before || found?.isSettled == false else { return true }
                numbers[name] = max(number, before)
                if tick == nil {
                    try counter.define(ownerPassword: ownerPassword)
                    tick = 0
                }
                if tick == 0 {
                    // The first time it goes up, it goes above every counter that the TPM ever had.
                    try counter.increment()
                    tick = try self.tick()
                }
                try change(found, to: numbers, at: tick ?? 0)
                noteMade()
                return true
            }
        }

        /// Notes in the key store that there are numbers: counter and file can both be removed, and would then be as they were at first.
        private func noteMade() {
            guard !isMadeNoted.withLock({ $0 }) else { return }
            // What it does not take now it takes after the next change.
            guard (try? wasMade()) == true || (try? keyStore.retire(made)) != nil else { return }
            isMadeNoted.withLock { $0 = true }
        }

        private func wasMade() throws(ProtectionError) -> Bool {
            do { return try keyStore.isRetired(made) } catch { throw ProtectionError(error) }
        }

        /// The counter's value; nil where there is no such counter, 0 for one that was never counted up.
        private func tick() throws(ProtectionError) -> UInt64? {
            switch try counter.content() {
            case .absent: nil
            case .unwritten: 0
            case .bytes(let bytes): bytes.reduce(0) { $0 << 8 | UInt64($1) }
            case .foreign(let error): throw error
            }
        }

        // MARK: A change

        // Between changes the counter is odd. A change counts up to an even value, writes a file with that value, and counts up again. A file
        // counts while the counter has gone on from its value by 2 at most: that is where the next change has begun and has written nothing
        // yet. When it is done, the counter is at 3 from there.
        //
        // A change holds the lock all the time, so its file is the only one of its value, and every other file has a smaller one, by 2 or more.
        // So when it returns no other file counts, also none that a killed change has written and that was kept as a copy.

        private func settle(_ found: Found, at tick: UInt64) throws(ProtectionError) {
            do { try change(found, to: found.numbers, at: tick) } catch {
                // A full disk refuses the write. The numbers in the file still count: no caller heard that the change succeeded.
                guard error.code == .stateUnwritable else { throw error }
            }
        }

        /// Writes the file anew, so that no other one counts any more; a kill in between leaves the one that is there, or the new one.
        private func change(
            _ found: Found?, to numbers: [String: Int64], at tick: UInt64
        ) throws(ProtectionError) {
            guard (1..<UInt64.max - 8).contains(tick) else {
                throw ProtectionError(.stateUnwritable, "the TPM has made no counter")
            }
            var tick = tick
            // One that is due would count no more once the counter goes up.
            if let found, found.isDue { try write(found.numbers, tick: tick & ~1) }
            if tick.isMultiple(of: 2) {
                try counter.increment()
                tick += 1
            }
            try counter.increment()
            try write(numbers, tick: tick + 1)
            try counter.increment()
            // Anyone who can write to the folder can remove the lock's file.
            guard try self.tick() == tick + 2 else {
                throw ProtectionError(.stateUnwritable, "another process changed the counter meanwhile")
            }
        }

        // MARK: The file

        private struct Counted: Codable {
            /// The counter's value when the file was written, or the even one below.
            var tick: UInt64
            var numbers: [String: Int64]
        }

        /// What a file holds that counts.
        private struct Found {
            var numbers: [String: Int64]
            /// Whether the change that wrote it is done and no other has begun.
            var isSettled: Bool
            /// Whether it has to be written with the counter's present value before that goes up.
            var isDue: Bool
        }

        private var file: StateFile { folder.file("tpm") }

        /// What the file holds, no numbers where there is none and there never were any; nil where it is not the file that was written last.
        private func look(at tick: UInt64?) throws(ProtectionError) -> Found? {
            guard let bytes = try file.read() else {
                guard (tick ?? 0) == 0, try !wasMade() else { return nil }
                return Found(numbers: [:], isSettled: true, isDue: false)
            }
            guard let tick, tick > 0 else { return nil }
            if let counted = opened(bytes, Self.form) {
                guard counted.tick <= tick, tick - counted.tick <= 2 else { return nil }
                let distance = tick - counted.tick
                return Found(numbers: counted.numbers, isSettled: distance == 1, isDue: distance == 2)
            }
            // Earlier software wrote a file with the value that the counter was to have next, and then counted up, once.
            guard let counted = opened(bytes, Self.info), counted.tick &- tick <= 1 else { return nil }
            return Found(numbers: counted.numbers, isSettled: false, isDue: true)
        }

        private func opened(_ bytes: Data, _ form: Data) -> Counted? {
            guard let box = try? AES.GCM.SealedBox(combined: bytes),
                let plain = try? AES.GCM.open(box, using: key, authenticating: form)
            else { return nil }
            return try? MessageCoding.decode(Counted.self, from: plain)
        }

        private func write(_ numbers: [String: Int64], tick: UInt64) throws(ProtectionError) {
            guard let plain = try? MessageCoding.encode(Counted(tick: tick, numbers: numbers)),
                let bytes = try? AES.GCM.seal(plain, using: key, authenticating: Self.form).combined
            else { throw ProtectionError(.stateUnwritable, "the numbers have no stored form") }
            try file.write(bytes)
        }
    }
#endif
