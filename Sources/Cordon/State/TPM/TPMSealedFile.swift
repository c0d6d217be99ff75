#if os(Linux)
    internal import CordonBase
    internal import CordonVault
    internal import Crypto
    internal import Foundation

    /// Secrets by name in one file, sealed under a key in a TPM's index that every change replaces: once a change has returned, no
    /// file opens that was there before.
    ///
    /// The index has two places for a key. The file is sealed under one of them, and between changes the other is empty. A change puts a new key
    /// into the empty one, writes the file under it, and empties the other. A kill at any instant leaves one file that opens, the one before or
    /// the one after; whoever opens it next empties the place that it does not use. So nothing depends on whether the TPM writes
    /// a place wholly or not at all.
    struct TPMSealedFile: Sendable {
        /// By name; the value zeroes its memory when it goes.
        typealias Secrets = [String: SymmetricKey]

        private static let magic = Data("CORDONTK".utf8)
        private static let keySize = 32
        /// Before the sealed part: what it is, and the index's password.
        private static let headerSize = 40
        private static let longest = 16 << 20
        private static let spareSize = 1 << 16
        private static let emptied = [UInt8](repeating: 0, count: keySize)
        /// In the first place, from the index's first writing until there is a file under the key in the second one.
        private static let unfinished = [UInt8](repeating: 0xFF, count: keySize)

        let directory: URL
        let index: UInt32
        let device: String
        let ownerPassword: String

        private var place: URL { directory.appending(path: "tpm.keys") }
        private var spare: URL { directory.appending(path: "tpm.spare") }

        /// What the file holds, made with nothing in it at the first call.
        ///
        /// - Throws: ``ProtectionError``: `stateUnreadable` where the TPM or the file is not there, or they do not belong together.
        func secrets() throws(ProtectionError) -> Secrets {
            try locked { (_) throws(ProtectionError) in try opened().secrets }
        }

        /// Changes what the file holds, durably, unless the body says that there is nothing to change.
        ///
        /// - Parameter body: Returns whether it has changed anything.
        /// - Throws: What ``secrets()`` throws, and `stateUnwritable`: then it is as it was, or, where only the end of the change failed,
        ///   as it was to be.
        func change(_ body: (inout Secrets) -> Bool) throws(ProtectionError) {
            try locked { (lock) throws(ProtectionError) in
                var (secrets, own, used) = try opened()
                guard body(&secrets) else { return }
                let key = Self.newKey()
                try requireLock(lock)
                try own.write(key, at: (1 - used) * Self.keySize)
                try requireLock(lock)
                try write(secrets, under: key, of: own)
                try requireLock(lock)
                try own.write(Self.emptied, at: used * Self.keySize)
                keepSpare()
            }
        }

        /// Refuses to go on without the lock, whose file anyone can remove who can write to the folder. A process that was stopped meanwhile would
        /// bring back what another one has destroyed since, or empty the place that the newest file needs.
        private func requireLock(_ lock: AdvisoryLock) throws(ProtectionError) {
            guard lock.isCurrent else {
                throw ProtectionError(.stateUnwritable, "another process may have changed the keys meanwhile")
            }
        }

        private func locked<Value>(
            _ body: (AdvisoryLock) throws(ProtectionError) -> Value
        ) throws(ProtectionError) -> Value {
            guard TPMIndex.ofOwners.contains(index) else {
                throw ProtectionError(
                    .invalidConfiguration, "the TPM's index is not one that an owner may define",
                    hint: "Take one from 0x01800000 to 0x01BFFFFF.")
            }
            do { try DurableFile.makePrivateFolder(directory) } catch {
                throw ProtectionError(
                    .stateUnwritable,
                    "the keys' folder \(directory.path) cannot be made, or other users may write to it")
            }
            return try StateLock.holding(directory.appending(path: "tpm.lock"), body)
        }

        // MARK: Opening

        /// The secrets, the index with its password, and which of the index's places the file is sealed under; the other one is empty.
        private func opened() throws(ProtectionError) -> (secrets: Secrets, index: TPMIndex, used: Int) {
            guard let bytes = try stored() else { return try begun() }
            guard bytes.count >= Self.headerSize, bytes.starts(with: Self.magic) else {
                throw lost("the file of keys is damaged")
            }
            let own = index(Array(bytes[8..<40]))
            if bytes.count == Self.headerSize { return try made(own) }
            guard case .bytes(let keys) = try own.content() else {
                throw lost("the TPM does not have the index \(own.place) that these keys were made with")
            }
            for used in 0...1 {
                let key = Self.key(used, of: keys)
                // Anyone can seal a file under a key that is none.
                guard Set(key).count > 1, let secrets = secrets(in: bytes, under: key) else { continue }
                if Self.key(1 - used, of: keys) != Self.emptied {
                    // What a kill has left. The name has to be on the disk before the other file's key goes.
                    do { try DurableFile.synchronize(directory) } catch {
                        throw ProtectionError(.stateUnwritable, "the keys' folder cannot be synchronized")
                    }
                    try own.write(Self.emptied, at: (1 - used) * Self.keySize)
                }
                return (secrets, own, used)
            }
            throw lost("the file of keys is damaged, or an older one than the TPM has the key of")
        }

        /// The first start: the password is on the disk before there is an index that needs it.
        private func begun() throws(ProtectionError) -> (secrets: Secrets, index: TPMIndex, used: Int) {
            let password = Self.newKey()
            let own = index(password)
            guard case .absent = try own.content() else {
                throw ProtectionError(
                    .stateUnreadable,
                    "there is no file of keys, and the TPM's index \(own.place) is another program's or that of a folder which is gone",
                    hint:
                        "Take another index; put the folder back; or begin anew without its keys and remove the index "
                        + "(tpm2_nvundefine \(own.place)).")
            }
            try write(Self.magic + password)
            return try made(own)
        }

        /// Makes the index and the first file; goes on with what a kill has left of that.
        private func made(_ own: TPMIndex) throws(ProtectionError) -> (secrets: Secrets, index: TPMIndex, used: Int) {
            switch try own.content() {
            case .absent: try own.define(ownerPassword: Array(ownerPassword.utf8))
            case .unwritten: break
            case .bytes(let keys):
                // Where a file was finished there are keys that someone may need.
                guard Self.key(0, of: keys) == Self.unfinished else { throw lost("the file of keys is damaged") }
            case .foreign(let error): throw error
            }
            let key = Self.newKey()
            try own.write(Self.unfinished + key)
            try write([:], under: key, of: own)
            try own.write(Self.emptied)
            keepSpare()
            BackupExclusion.exclude(directory)
            return ([:], own, 1)
        }

        private func index(_ password: [UInt8]) -> TPMIndex {
            TPMIndex(device: device, handle: index, kind: .bytes(2 * Self.keySize), password: password)
        }

        private static func key(_ place: Int, of keys: [UInt8]) -> [UInt8] {
            Array(keys[place * keySize..<(place + 1) * keySize])
        }

        private static func newKey() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }

        private func lost(_ reason: String) -> ProtectionError {
            ProtectionError(
                .stateUnreadable, reason,
                hint:
                    "Put back the newest \(directory.path) of this machine; or begin anew without its keys and remove it, and the index "
                    + "(tpm2_nvundefine \(index([]).place)).")
        }

        // MARK: The file

        private func stored() throws(ProtectionError) -> Data? {
            do { return try DurableFile.readPrivate(place, limit: Self.longest) } catch {
                switch error.number {
                case ENOENT: return nil
                case EPERM:
                    throw ProtectionError(
                        .stateUnreadable, "other users may read the file of keys", hint: "Run chmod 600 \(place.path).")
                default: throw ProtectionError(.stateUnreadable, "the file of keys cannot be read")
                }
            }
        }

        private func write(_ bytes: Data) throws(ProtectionError) {
            do { try replace(bytes) } catch {
                guard StateFile.isDiskFull(error.number) else { throw unwritable(error) }
                try? DurableFile.remove(spare)
                do { try replace(bytes) } catch { throw unwritable(error) }
            }
        }

        private func replace(_ bytes: Data) throws(FileFailure) {
            try DurableFile.replace(place, with: bytes, by: directory.appending(path: "tpm.keys.new"))
        }

        /// Takes room for the next versions where there is some, so that no secret outlives a wipe because a disk is full.
        private func keepSpare() {
            guard !FileManager.default.fileExists(atPath: spare.path) else { return }
            // Random, since a file system may keep zeros in no space.
            let bytes = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * Self.spareSize)).withUnsafeBytes { Data($0) }
            try? DurableFile.replace(spare, with: bytes, by: directory.appending(path: "tpm.spare.new"))
        }

        private func unwritable(_ failure: FileFailure) -> ProtectionError {
            ProtectionError(
                unwritable: "the file of keys cannot be written", isDiskFull: StateFile.isDiskFull(failure.number))
        }

        private func write(
            _ secrets: Secrets, under key: [UInt8], of own: TPMIndex
        ) throws(ProtectionError) {
            let header = Self.magic + own.password
            var plain = Self.plain(secrets)
            defer { plain.resetBytes(in: 0..<plain.count) }
            guard
                let sealed = try? AES.GCM.seal(plain, using: SymmetricKey(data: key), authenticating: header).combined,
                header.count + sealed.count <= Self.longest
            else { throw ProtectionError(.stateUnwritable, "the keys have no stored form") }
            try write(header + sealed)
        }

        private func secrets(in bytes: Data, under key: [UInt8]) -> Secrets? {
            guard let box = try? AES.GCM.SealedBox(combined: bytes.dropFirst(Self.headerSize)),
                var plain = try? AES.GCM.open(
                    box, using: SymmetricKey(data: key), authenticating: bytes.prefix(Self.headerSize))
            else { return nil }
            defer { plain.resetBytes(in: 0..<plain.count) }
            return Self.secrets(in: plain)
        }

        /// Each name and each value with its length before it, in two bytes.
        private static func plain(_ secrets: Secrets) -> Data {
            var plain = Data()
            // Growing would leave copies of the keys in freed memory.
            plain.reserveCapacity(secrets.reduce(0) { $0 + 4 + $1.key.utf8.count + $1.value.bitCount / 8 })
            for (name, value) in secrets {
                plain.append(contentsOf: TPMBytes.sized(Array(name.utf8)))
                value.withUnsafeBytes {
                    plain.append(contentsOf: TPMBytes.short(UInt16(truncatingIfNeeded: $0.count)))
                    plain.append(contentsOf: $0)
                }
            }
            return plain
        }

        private static func secrets(in plain: Data) -> Secrets? {
            var secrets: Secrets = [:]
            var start = 0
            func next() -> Range<Int>? {
                guard start + 2 <= plain.count else { return nil }
                let first = start + 2
                let end = first + Int(plain[start]) << 8 + Int(plain[start + 1])
                guard end <= plain.count else { return nil }
                start = end
                return first..<end
            }
            while start < plain.count {
                guard let name = next(), let value = next() else { return nil }
                secrets[String(decoding: plain[name], as: UTF8.self)] = SymmetricKey(data: plain[value])
            }
            return secrets
        }
    }
#endif
