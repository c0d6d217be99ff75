internal import CordonVault
internal import Crypto
internal import Foundation

/// A small state file that only this device can read, and that nobody can change unseen.
struct SealedState<Value: Codable & Sendable>: Sendable {
    let file: StateFile
    /// Says what the value is for; a value of another purpose does not open.
    let purpose: String
    let keyStore: any KeyStore

    /// What is stored.
    enum Contents {
        /// There is no such file.
        case absent
        /// The value.
        case value(Value)
        /// There is something that this device did not write.
        case damaged
    }

    /// Reads the file.
    ///
    /// - Throws: ``ProtectionError`` when the file or the device's root key cannot be read.
    func read() throws(ProtectionError) -> Contents {
        guard let bytes = try file.read() else { return .absent }
        let key = try key("seal")
        guard let box = try? AES.GCM.SealedBox(combined: bytes),
            let text = try? AES.GCM.open(box, using: key, authenticating: name),
            let value = try? JSONDecoder().decode(Value.self, from: text)
        else { return .damaged }
        return .value(value)
    }

    /// Replaces the file; when this returns the value survives a crash.
    func write(_ value: Value) throws(ProtectionError) {
        guard let text = try? JSONEncoder().encode(value),
            let box = try? AES.GCM.seal(text, using: try key("seal"), authenticating: name), let bytes = box.combined
        else { throw ProtectionError(.stateUnwritable, "\(purpose) has no stored form") }
        try file.write(bytes)
    }

    /// A key of this file's own under the device's root key.
    func key(_ use: String) throws(ProtectionError) -> SymmetricKey {
        do {
            return HKDF<SHA256>.deriveKey(
                inputKeyMaterial: try keyStore.rootKey(), salt: name, info: Data("cordon-\(purpose)-\(use)-1".utf8),
                outputByteCount: 32)
        } catch { throw ProtectionError(error) }
    }

    private var name: Data { Data(file.url.lastPathComponent.utf8) }
}
