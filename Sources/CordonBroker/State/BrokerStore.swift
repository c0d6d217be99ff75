internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Crypto
internal import Foundation

/// The broker's folder: its state in one sealed file, and its secrets.
///
/// The file's key is written once, and its newest revision beside it: a file that was put back is recognised by its revision, and
/// then counts as a device without an account or a registration. When a person is forgotten the key is overwritten and another takes
/// its place: what earlier versions of the file left on the disk cannot be read any more then.
struct BrokerStore: Sendable {
    private let file: URL
    private let secrets: any SecretStore

    /// The longest file, in bytes: more than some hundreds of apps come to that never clean up.
    private static let largest = 64 << 20
    private static let magic = Data("CRDNBRKR".utf8)
    /// The key and revision of format 1, 40 bytes that were rewritten with every change.
    private static let firstSecret = "broker-state"
    /// Number of the key in force and newest revision, 16 bytes.
    private static let countSecret = "broker-state-count"
    private static let deviceSecret = "broker-device"
    /// The newest signed policy, 8 bytes: known also where the state is damaged.
    private static let policySecret = "broker-policy-version"

    /// The highest number of a session, 8 bytes: known also where the state is damaged or gone.
    private static let sessionSecret = "broker-session-count"

    init(folder: URL, secrets: any SecretStore) {
        file = folder.appending(path: "broker.state", directoryHint: .notDirectory)
        self.secrets = secrets
    }

    /// What is known outside of the file.
    private struct Count: Equatable {
        /// Zero for format 1.
        var key: UInt64 = 0
        var revision: UInt64 = 0
    }

    /// The state as it was last written, and why it was not used where it was not.
    func load() throws(SignInError) -> (state: BrokerState, problem: String?) {
        let known = try count()
        guard let bytes = try TokenStoreFile.read(file, limit: Self.largest) else {
            // Before its first file a broker may have been killed after writing a count of zero.
            return (BrokerState(), (known?.revision ?? 0) > 0 ? "the broker's state is gone" : nil)
        }
        guard let count = known else { return (BrokerState(), "the key of the broker's state is gone") }
        guard let head = Head(bytes), let key = try key(head.key) else {
            return (BrokerState(), "the broker's state is damaged, or its key is gone")
        }
        guard let box = try? AES.GCM.SealedBox(combined: bytes.dropFirst(head.length)),
            let content = try? AES.GCM.open(box, using: key, authenticating: bytes.prefix(head.length)),
            let state = try? MessageCoding.decode(BrokerState.self, from: content)
        else { return (BrokerState(), "the broker's state is damaged") }
        guard head.revision >= count.revision else { return (BrokerState(), "the broker's state is an old copy") }
        try finishChange(of: head, count)
        return (state, nil)
    }

    /// A change that was cut short: the file says which key and revision are in force.
    private func finishChange(of head: Head, _ count: Count) throws(SignInError) {
        guard head.key > 0 else { return }
        let inForce = Count(key: head.key, revision: head.revision)
        if count != inForce { try keep(inForce) }
        for other in [head.key - 1, head.key + 1] where try secrets.secret(named: Self.name(ofKey: other)) != nil {
            try secrets.destroy(named: Self.name(ofKey: other))
        }
        if try secrets.secret(named: Self.firstSecret) != nil { try secrets.destroy(named: Self.firstSecret) }
    }

    /// Writes the state; it is old or new after a crash, never half.
    ///
    /// - Parameter forgetting: Whether what was written before must be unreadable from then on.
    func save(_ state: BrokerState, forgetting: Bool) throws(SignInError) {
        let known = try countInForce(forgetting: forgetting)
        var next = Count(key: max(1, known.key), revision: known.revision + 1)
        if forgetting, known.key > 0 { next.key += 1 }
        var key = try self.key(next.key)
        if key == nil || next.key != known.key {
            let fresh = SymmetricKey(size: .bits256)
            try secrets.keep(fresh.withUnsafeBytes { Data($0) }, named: Self.name(ofKey: next.key))
            key = fresh
        }
        if known.revision == 0 { try keep(Count(key: next.key, revision: 0)) }
        // First, so that no number is used that a lost state would have given out again.
        if state.session > (try highestSession() ?? 0) {
            try secrets.keep(Self.bytes(state.session), named: Self.sessionSecret)
        }
        let head = Head(key: next.key, revision: next.revision)
        guard let key, let content = try? MessageCoding.encode(state),
            let sealed = try? AES.GCM.seal(content, using: key, authenticating: head.bytes).combined
        else { throw SignInError(.storage, .storeUnavailable, "the broker's state could not be sealed") }
        try TokenStoreFile.replace(file, with: head.bytes + sealed)
        try keep(next)
        guard next.key != known.key else { return }
        try secrets.destroy(named: known.key == 0 ? Self.firstSecret : Self.name(ofKey: known.key))
    }

    /// The count in force. First finishes a change that failed at its last step: its file may be sealed under the key that the next change would
    /// overwrite, and the previous key may still be there.
    private func countInForce(forgetting: Bool) throws(SignInError) -> Count {
        let known = try count() ?? Count()
        // A file that cannot be read just now, as without a descriptor left, may be such a one.
        guard let bytes = try TokenStoreFile.readListed(file, limit: Self.largest), let head = Head(bytes),
            head.key > 0, head.revision == known.revision + 1 || forgetting && head.revision == known.revision,
            try key(head.key) != nil
        else { return known }
        try finishChange(of: head, known)
        return Count(key: head.key, revision: head.revision)
    }

    /// What stands before the sealed content.
    private struct Head {
        let key: UInt64
        let revision: UInt64
        let bytes: Data
        var length: Int { bytes.count }

        init(key: UInt64, revision: UInt64) {
            (self.key, self.revision) = (key, revision)
            bytes = BrokerStore.magic + [2] + BrokerStore.bytes(key) + BrokerStore.bytes(revision)
        }

        /// Reads format 1, which has one key, or 2; nil for anything else.
        init?(_ file: Data) {
            guard file.count > 25, file.prefix(8) == BrokerStore.magic else { return nil }
            switch file[file.startIndex + 8] {
            case 1:
                (key, bytes) = (0, Data(file.prefix(17)))
                revision = BrokerStore.number(file.dropFirst(9).prefix(8))
            case 2:
                bytes = Data(file.prefix(25))
                key = BrokerStore.number(file.dropFirst(9).prefix(8))
                revision = BrokerStore.number(file.dropFirst(17).prefix(8))
                guard (1..<UInt64.max).contains(key) else { return nil }
            default: return nil
            }
        }
    }

    private func count() throws(SignInError) -> Count? {
        if let bytes = try secrets.secret(named: Self.countSecret), bytes.count == 16 {
            let count = Count(key: Self.number(bytes.prefix(8)), revision: Self.number(bytes.suffix(8)))
            // No device counts that far.
            return max(count.key, count.revision) < 1 << 62 ? count : nil
        }
        guard let bytes = try secrets.secret(named: Self.firstSecret), bytes.count == 40 else { return nil }
        return Count(revision: min(Self.number(bytes.suffix(8)), 1 << 62))
    }

    private func keep(_ count: Count) throws(SignInError) {
        try secrets.keep(Self.bytes(count.key) + Self.bytes(count.revision), named: Self.countSecret)
    }

    private func key(_ number: UInt64) throws(SignInError) -> SymmetricKey? {
        let name = number == 0 ? Self.firstSecret : Self.name(ofKey: number)
        guard let bytes = try secrets.secret(named: name), bytes.count == (number == 0 ? 40 : 32) else { return nil }
        return SymmetricKey(data: bytes.prefix(32))
    }

    private static func name(ofKey number: UInt64) -> String { "broker-state-key-\(number)" }

    private static func bytes(_ number: UInt64) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }

    private static func number(_ bytes: Data) -> UInt64 { bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }

    /// The highest number that a session had, which a damaged or removed state does not take away; nil where none is kept.
    func highestSession() throws(SignInError) -> UInt64? {
        guard let bytes = try secrets.secret(named: Self.sessionSecret), bytes.count == 8 else { return nil }
        // No device counts that far.
        return min(Self.number(bytes), 1 << 62)
    }

    // MARK: The newest policy

    /// The version of the newest signed policy that the device was run by, which a damaged or removed state does not take away.
    func policyVersion() throws(SignInError) -> Int? {
        guard let bytes = try secrets.secret(named: Self.policySecret), bytes.count == 8 else { return nil }
        return Int(exactly: Self.number(bytes))
    }

    /// Keeps that version.
    func keep(policyVersion version: Int) throws(SignInError) {
        try secrets.keep(Self.bytes(UInt64(max(0, version))), named: Self.policySecret)
    }

    // MARK: The device's key

    /// Whether hardware keeps the keys.
    var isHardwareBacked: Bool { secrets.isHardwareBacked }

    /// The key of a device that has joined, nil where it is gone.
    ///
    /// - Parameter thumbprint: That of the key that it joined with.
    func deviceKey(_ thumbprint: String) throws(SignInError) -> SoftwareSigningKey? {
        try storedDeviceKey().flatMap { $0.publicKey.thumbprint == thumbprint ? $0 : nil }
    }

    private func storedDeviceKey() throws(SignInError) -> SoftwareSigningKey? {
        try secrets.secret(named: Self.deviceSecret).flatMap { try? SoftwareSigningKey(rawRepresentation: $0) }
    }

    /// The key of a device that joins, made at the first call and never given out (SI-024).
    func deviceKey() throws(SignInError) -> SoftwareSigningKey {
        if let key = try storedDeviceKey() { return key }
        let key = SoftwareSigningKey()
        try secrets.keep(key.rawRepresentation, named: Self.deviceSecret)
        return key
    }

    /// Destroys the device's key.
    func destroyDeviceKey() throws(SignInError) {
        try secrets.destroy(named: Self.deviceSecret)
    }

    // MARK: What apps seal data under

    /// Makes the secret that the session's data keys come from.
    func makeSeed(session: UInt64, random: Data) throws(SignInError) {
        try secrets.keep(random, named: Self.seed(session))
    }

    /// The key of one app in the session; nil when the session's secret is gone.
    func key(session: UInt64, app: AppIdentity, account: AccountID) throws(SignInError) -> Data? {
        guard let seed = try secrets.secret(named: Self.seed(session)), seed.count == 32 else { return nil }
        let info = Data("cordon session key 1\n\(app.key)\n\(account.rawValue.lowercased())".utf8)
        let key = HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: seed), info: info, outputByteCount: 32)
        return key.withUnsafeBytes { Data($0) }
    }

    /// Whether the session's secret is there.
    func hasSeed(session: UInt64) throws(SignInError) -> Bool {
        try secrets.secret(named: Self.seed(session)) != nil
    }

    /// Destroys the session's secret and reads back that it is gone.
    func destroySeed(session: UInt64) throws(SignInError) -> Bool {
        try secrets.destroy(named: Self.seed(session))
        return try secrets.secret(named: Self.seed(session)) == nil
    }

    private static func seed(_ session: UInt64) -> String { "broker-seed-\(session)" }
}
