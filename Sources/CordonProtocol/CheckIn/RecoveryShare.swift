internal import CordonBase
internal import Crypto
public import Foundation

/// What an app leaves with its service so that a person who forgets the PIN gets at the account's files after a fresh sign-in: the share
/// that guards the account's key, sealed by the device under a key that never leaves it. The service cannot open it.
public struct RecoveryShare: Sendable, Codable, Equatable {
    /// The sealed share in base64url, 32 to 256 bytes.
    public var sealed: String

    /// How many bytes a sealed share may have.
    public static let sizes = 32...256
    /// For how long after a sign-in the service gives a share out, in seconds.
    public static let freshness: TimeInterval = 300
    /// How often the service gives a share out in a day.
    public static let mostReleases = 5

    /// States a sealed share.
    public init(sealed: String) {
        self.sealed = sealed
    }

    /// The SHA-256 of ``sealed``, base64url without padding: by this a check-in asks whether the service still keeps the share
    /// (``CheckInRequest/recoveryShareDigest``).
    public var digest: String { Base64URL.encode(Data(SHA256.hash(data: Data(sealed.utf8)))) }
}
