internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault
internal import Crypto
internal import Foundation

/// Seals the state files that decisions depend on under the device's root key: whoever can write the data folder can
/// neither read nor edit them, only remove them or put an older copy back.
///
/// A sealed file is `{"sealed":"…","version":3}`: AES-GCM over the JSON of version 2, bound to the file's name. Versions 1
/// and 2 were plain. A plain file is taken over until everything here is sealed; from then on it is no state of this device.
/// That moment is noted in the folder and, where there is one, in the ``StateCounter``.
struct StateSeal: Sendable {
    /// The version of the sealed form.
    static let version: Int64 = 3

    private let keyStore: any KeyStore
    private let mark: StateFile
    private let counter: (any StateCounter)?
    private let counterName: String
    private let knownKey = Locked<SymmetricKey?>(nil)
    /// Whether every plain file was taken over, and whether that was noted.
    private let progress = Locked((isSettled: false, isNoted: false))

    /// - Parameters:
    ///   - folder: Where it is noted that everything is sealed.
    ///   - bundleID: The app, because apps of one organisation may share the counter.
    init(keyStore: any KeyStore, folder: StateFolder, counter: (any StateCounter)?, bundleID: String) {
        self.keyStore = keyStore
        mark = folder.file("sealed")
        self.counter = counter
        counterName = "sealed-" + FolderName.hash(bundleID)
    }

    /// What a file's bytes hold, and whether they are plain.
    ///
    /// - Throws: ``ProtectionError`` when the root key cannot be read: then nothing is known of the file.
    func read<Value: Decodable>(
        _ type: Value.Type, from bytes: Data, of file: StateFile
    ) throws(ProtectionError) -> (contents: StateFormat.Reading<Value>, isPlain: Bool) {
        guard let members = (try? JSONValue(parsing: bytes))?.object else { return (.damaged, false) }
        switch members["version"]?.integer ?? 1 {
        case ...StateFormat.current:
            guard isEverythingSealed else { return (StateFormat.read(type, from: bytes), true) }
            // Another process may have sealed it after these bytes were read.
            if let newer = try file.read(), newer != bytes { return try read(type, from: newer, of: file) }
            return (.damaged, true)
        case Self.version:
            let key = try key()
            guard let text = members["sealed"]?.string, let sealed = Base64URL.decode(text),
                let box = try? AES.GCM.SealedBox(combined: sealed),
                let plain = try? AES.GCM.open(box, using: key, authenticating: Self.name(of: file))
            else { return (.damaged, false) }
            return (StateFormat.read(type, from: plain), false)
        default: return (.newer, false)
        }
    }

    /// The sealed form of a value.
    func bytes(_ value: some Encodable, for file: StateFile) throws(ProtectionError) -> Data {
        let key = try key()
        guard let plain = try? MessageCoding.encode(value),
            let sealed = try? AES.GCM.seal(plain, using: key, authenticating: Self.name(of: file)).combined,
            let bytes = try? MessageCoding.encode(Form(sealed: Base64URL.encode(sealed), version: Self.version))
        else { throw ProtectionError(.stateUnwritable, "\(file.url.lastPathComponent) has no stored form") }
        return bytes
    }

    /// Nothing plain is left: from the next sealed file on, plain ones are none of this device's.
    func settle() { progress.withLock { $0.isSettled = true } }

    /// Notes after a sealed file was written that plain ones are none of this device's any more; nothing before ``settle()``,
    /// or a plain file that waits for its turn would be refused.
    func noteSealed() {
        guard progress.withLock({ $0.isSettled && !$0.isNoted }) else { return }
        do {
            if try mark.read() == nil { try mark.write(Data(#"{"version":3}"#.utf8)) }
            try counter?.raise(counterName, to: 1)
            progress.withLock { $0.isNoted = true }
        } catch {
            // The next file that is written notes it.
        }
    }

    /// What cannot be told counts as sealed: a plain file could be anybody's.
    private var isEverythingSealed: Bool {
        do { return try mark.read() != nil || (try counter?.value(of: counterName) ?? 0) > 0 } catch { return true }
    }

    private struct Form: Encodable {
        var sealed: String
        var version: Int64
    }

    /// The key of all sealed files. It is kept from its first use on, since a wipe that the service commands must be noted
    /// also while the key store is locked.
    private func key() throws(ProtectionError) -> SymmetricKey {
        if let known = knownKey.withLock({ $0 }) { return known }
        do {
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: try keyStore.rootKey(), info: Data("cordon-state-seal-1".utf8), outputByteCount: 32)
            knownKey.withLock { $0 = key }
            return key
        } catch { throw ProtectionError(error) }
    }

    private static func name(of file: StateFile) -> Data { Data(file.url.lastPathComponent.utf8) }
}
