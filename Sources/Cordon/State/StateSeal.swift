internal import CordonBase
internal import CordonProtocol
internal import CordonVault
internal import Crypto
internal import Foundation

/// What every sealed record of an app shares: the keys under the device's root key, the counter, and whether records of the versions
/// before are still taken.
///
/// Records of versions before were plain (1 and 2), or sealed but not counted (3, and the raw form of launch and PIN records). They
/// are taken over until everything here is sealed and counted; from then on they are no state of this device. That moment is noted in the
/// folder and in the ``StateCounter``.
struct StateSeal: Sendable {
    /// The version of the sealed form; inside lie the record's generation and its members.
    static let version: Int64 = 4
    /// The version that was sealed and not counted.
    static let uncounted: Int64 = 3

    let counter: any StateCounter
    let keyStore: any KeyStore
    private let mark: StateFile
    let bundleID: String
    private let knownKeys = Locked<[String: SymmetricKey]>([:])
    /// Whether every record was taken over, and whether that was noted.
    private let progress = Locked((isComplete: false, isNoted: false))

    /// - Parameters:
    ///   - folder: Where it is noted that everything is sealed.
    ///   - bundleID: The app, because apps of one organisation may share the counter.
    init(keyStore: any KeyStore, folder: StateFolder, counter: any StateCounter, bundleID: String) {
        self.keyStore = keyStore
        mark = folder.file("sealed")
        self.counter = counter
        self.bundleID = bundleID
    }

    /// The counter that the app gave, else one of files in its data folder.
    static func counter(
        _ given: (any StateCounter)?, in dataDirectory: URL
    ) throws(ProtectionError) -> any StateCounter {
        if let given { return given }
        return try FileStateCounter(inside: dataDirectory.appending(path: "counters"))
    }

    // MARK: Keys

    /// A key under the device's root key. It is kept from its first use on, since a wipe that the service commands must be noted also
    /// while the key store is locked.
    ///
    /// - Throws: ``ProtectionError`` when the root key cannot be read: then nothing is known of any record.
    func key(_ info: String, salt: [UInt8] = []) throws(ProtectionError) -> SymmetricKey {
        let name = info + "/" + String(decoding: salt, as: UTF8.self)
        if let known = knownKeys.withLock({ $0[name] }) { return known }
        do {
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: try keyStore.rootKey(), salt: salt, info: Array(info.utf8), outputByteCount: 32)
            knownKeys.withLock { $0[name] = key }
            return key
        } catch { throw ProtectionError(error) }
    }

    /// The name of a record's number.
    ///
    /// - Parameter isShared: Whether the record is one that the organisation's apps share.
    func counterName(_ purpose: String, _ file: String, isShared: Bool) throws(ProtectionError) -> String {
        let text = "\(purpose)\n\(isShared ? "" : bundleID.lowercased())\n\(file)"
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: try key("cordon-state-count-1"))
        return Base64URL.encode(code.withUnsafeBytes { Data($0) }.prefix(18))
    }

    // MARK: Records of versions before

    /// Every record that there is was taken over: from the next record on, those of versions before are none of this device's.
    func noteTakenOver() { progress.withLock { $0.isComplete = true } }

    /// Notes after a record was written that others are none of this device's any more; nothing before ``noteTakenOver()``, or one that waits
    /// for its turn would be refused.
    func noteSealed() {
        guard progress.withLock({ $0.isComplete && !$0.isNoted }) else { return }
        do {
            try counter.raise("counted-" + FolderName.hash(bundleID), to: 1)
            try counter.raise("sealed-" + FolderName.hash(bundleID), to: 1)
            if try noted() < Self.version { try mark.write(Data(#"{"version":4}"#.utf8)) }
            progress.withLock { $0.isNoted = true }
        } catch {
            // The next record that is written notes it.
        }
    }

    /// Whether plain records are none of this device's any more. What cannot be told counts as so: one could be another device's.
    var refusesPlain: Bool {
        do {
            return try noted() >= Self.uncounted || counter.value(of: "sealed-" + FolderName.hash(bundleID)) > 0
                || hasLostNumbers
        } catch { return true }
    }

    /// Whether records that were not counted are none of this device's any more; what cannot be told counts as so.
    var refusesUncounted: Bool {
        do {
            return try noted() >= Self.version || counter.value(of: "counted-" + FolderName.hash(bundleID)) > 0
                || hasLostNumbers
        } catch { return true }
    }

    /// Whether the counter has begun anew after it had lost numbers: that it knows nothing of a record then does not say that it never did.
    var hasLostNumbers: Bool { (try? counter.value(of: Self.lostNumbers)) != 0 }

    /// What a counter notes as 1 that begins anew without the numbers that it had.
    static let lostNumbers = "lost"

    private func noted() throws(ProtectionError) -> Int64 {
        guard let bytes = try mark.read() else { return 0 }
        return (try? JSONValue(parsing: bytes))?["version"]?.integer ?? Self.version
    }
}
