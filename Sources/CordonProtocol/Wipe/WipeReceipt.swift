public import CordonIdentity
public import Foundation

/// What a selective wipe destroyed, signed by the device's registration key.
///
/// A holder of the registration's public key can check it without the service (`cordon audit verify`).
public struct WipeReceipt: Sendable, Codable, Equatable {
    /// The command that asked for it; the device's own id where a launch condition did.
    public var commandID: String
    /// The organisation.
    public var tenant: TenantID
    /// The registration.
    public var registrationID: String
    /// The account whose data was removed.
    public var account: AccountID
    /// The app.
    public var bundleID: String
    /// The ids of the keys that were destroyed; at most ``mostKeyIDs``.
    public var destroyedKeyIDs: [String]
    /// How many files were removed.
    public var files: Int
    /// How many bytes those files had on disk.
    public var bytes: Int64
    /// When the wipe began, by the device's clock.
    public var started: Date
    /// When it ended, by the device's clock.
    public var finished: Date
    /// What could not be removed, one short sentence each without file names; empty after success. At most
    /// ``mostFailures``; a device lists the first 16.
    public var failures: [String]
    /// Why the device decided it itself: the rule, or `app` or `unenrollment`; nil for a command of the service, and from an
    /// older Cordon (SRV-CI-012).
    public var cause: String?

    /// The most bytes of a signed receipt that the service takes.
    public static let largestText = 16 << 10
    /// The most keys that a receipt names: a wipe destroys one, and one more each time it is cut off and goes on.
    public static let mostKeyIDs = 64
    /// The most failures of a receipt that the service takes.
    public static let mostFailures = 64
    /// The most failures that a device lists, and the most bytes of one: together with all keys they fit into
    /// ``largestText``. Devices with an older Cordon list more.
    private static let listedFailures = 16
    private static let longestFailure = 200

    /// Whether everything was removed.
    public var succeeded: Bool { failures.isEmpty }

    /// Whether the receipt lists no more than the service takes.
    public var isBounded: Bool {
        destroyedKeyIDs.count <= Self.mostKeyIDs && failures.count <= Self.mostFailures
    }

    /// Whether the receipt can be true: its times are in order and nothing was counted below zero.
    public var isPlausible: Bool { finished >= started && files >= 0 && bytes >= 0 }

    /// Makes a receipt. A clock that was set back during the wipe ends it when it began. Lists and sentences that are too long are cut, so that the service takes it; the last failure then
    /// says how many are left out.
    public init(
        commandID: String, tenant: TenantID, registrationID: String, account: AccountID, bundleID: String,
        destroyedKeyIDs: [String], files: Int, bytes: Int64, started: Date, finished: Date, failures: [String],
        cause: String? = nil
    ) {
        self.commandID = commandID
        self.tenant = tenant
        self.registrationID = registrationID
        self.account = account
        self.bundleID = bundleID
        self.destroyedKeyIDs = Array(destroyedKeyIDs.suffix(Self.mostKeyIDs))
        self.files = files
        self.bytes = bytes
        self.started = started
        self.finished = max(started, finished)
        self.failures = Self.bounded(failures)
        self.cause = cause
    }

    private static func bounded(_ failures: [String]) -> [String] {
        var kept = failures.prefix(listedFailures).map(bounded)
        let left = failures.count - listedFailures
        if left > 0 { kept[listedFailures - 1] = "and \(left + 1) more" }
        return kept
    }

    private static func bounded(_ failure: String) -> String {
        // Control characters would take six bytes each in JSON.
        let plain = String(
            String.UnicodeScalarView(
                failure.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        var (text, size) = ("", 0)
        for character in plain {
            size += String(character).utf8.count
            guard size <= longestFailure else { break }
            text.append(character)
        }
        return text
    }

    /// The receipt as a compact JWS.
    ///
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public func signed(by signer: some MessageSigner) throws(ProtocolError) -> String {
        try CompactJWS.sign(try MessageCoding.encode(self), type: .wipeReceipt, with: signer)
    }

    /// The receipt in a compact JWS, provided that the registration's key signed it.
    ///
    /// The receipt may name the key as the registration did or by its thumbprint: both are this one key.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    public init(verifying text: String, signedBy key: JSONWebKey) throws(ProtocolError) {
        let keys = JSONWebKeySet([key, try JSONWebKey(point: key.x + key.y)])
        let payload = try CompactJWS.payload(of: text, type: .wipeReceipt, signedBy: keys)
        self = try MessageCoding.decode(WipeReceipt.self, from: payload)
    }
}
