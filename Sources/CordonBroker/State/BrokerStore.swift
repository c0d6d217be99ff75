internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Crypto
internal import Foundation

/// The broker's folder: its state in one sealed file, and its secrets.
///
/// The file's key and a counter lie in the secret store, apart from each other: a file that was put back is recognised by its
/// counter, and then counts as a device where nobody is signed in and that is not registered.
struct BrokerStore: Sendable {
    private let file: URL
    private let secrets: any SecretStore

    private static let magic = Data("CRDNBRKR".utf8)
    private static let format: UInt8 = 1
    private static let stateName = "broker-state"
    private static let deviceSecret = "broker-device"

    init(folder: URL, secrets: any SecretStore) {
        file = folder.appending(path: "broker.state", directoryHint: .notDirectory)
        self.secrets = secrets
    }

    /// The state as it was last written, and why it was not used where it was not.
    func load() throws(SignInError) -> (state: BrokerState, problem: String?) {
        guard let bytes = try TokenStoreFile.read(file, limit: 4 << 20) else { return (BrokerState(), nil) }
        let values = try stateSecret.values()
        guard !values.isEmpty else { return (BrokerState(), "the key of the broker's state is gone") }
        guard bytes.count > 17, bytes.prefix(8) == Self.magic, bytes[bytes.startIndex + 8] == Self.format,
            let box = try? AES.GCM.SealedBox(combined: bytes.dropFirst(17)),
            let (content, newest) = Self.opened(box, authenticating: bytes.prefix(17), values),
            let state = try? MessageCoding.decode(BrokerState.self, from: content)
        else { return (BrokerState(), "the broker's state is damaged") }
        let revision = bytes.dropFirst(9).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard revision >= newest else { return (BrokerState(), "the broker's state is an old copy") }
        return (state, nil)
    }

    private static func opened(
        _ box: AES.GCM.SealedBox, authenticating head: Data, _ values: [CountedSecret.Value]
    ) -> (content: Data, newest: UInt64)? {
        for value in values {
            if let content = try? AES.GCM.open(box, using: value.key, authenticating: head) {
                return (content, value.number)
            }
        }
        return nil
    }

    /// Writes the state; it is old or new after a crash, never half.
    func save(_ state: BrokerState) throws(SignInError) {
        let values = try stateSecret.values()
        let newest = values.map(\.number).max() ?? 0
        let key: SymmetricKey
        if let known = values.first(where: { !$0.isFormer }) {
            key = known.key
        } else {
            key = try stateSecret.make(number: newest)
        }
        let revision = newest + 1
        var head = Self.magic + [Self.format]
        withUnsafeBytes(of: revision.bigEndian) { head.append(contentsOf: $0) }
        guard let content = try? MessageCoding.encode(state),
            let sealed = try? AES.GCM.seal(content, using: key, authenticating: head).combined
        else { throw SignInError(.storage, .storeUnavailable, "the broker's state could not be sealed") }
        try TokenStoreFile.replace(file, with: head + sealed)
        try stateSecret.raise(to: revision)
        try stateSecret.endFormer()
    }

    private var stateSecret: CountedSecret { CountedSecret(Self.stateName, in: secrets) }

    // MARK: The device's key

    /// Whether hardware keeps the keys.
    var isHardwareBacked: Bool { secrets.isHardwareBacked }

    /// The device's key, made at the first call and never given out (SI-024).
    func deviceKey() throws(SignInError) -> SoftwareSigningKey {
        if let secret = try secrets.secret(named: Self.deviceSecret),
            let key = try? SoftwareSigningKey(rawRepresentation: secret)
        {
            return key
        }
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
