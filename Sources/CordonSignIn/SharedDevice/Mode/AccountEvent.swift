public import Foundation

/// Something that happened to the device's account; it identifies no person (SI-059, SI-162).
public struct AccountEvent: Sendable, Hashable, Codable {
    /// What happened.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// Registration of the device has begun.
        case registrationStart = "SDM_REGISTRATION_START"
        /// The device is registered, or is no longer.
        case registered = "SDM_REGISTERED"
        /// The person signed out, or was signed out, everywhere on the device.
        case globalSignOut = "GLOBAL_SIGN_OUT"
        /// Another account is current.
        case accountChanged = "ACCOUNT_CHANGED"
        /// The session will end soon because the device is idle or the shift is over (SI-159).
        case signOutSoon = "SIGN_OUT_SOON"
        /// The connection to the broker was lost and found again: anything may have happened meanwhile (SI-198).
        case resumed = "RESUMED"

        /// Reads a name; what a newer broker tells of means that anything may have happened (SI-194).
        public init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .resumed
        }
    }

    /// What happened.
    public let kind: Kind
    /// The session number in force; it rises with every change of account or registration (SI-072).
    public let session: UInt64
    /// When, by the broker's clock in whole seconds; nil from an older broker and for ``Kind/resumed``.
    public let time: Date?
    /// Random, so that the same event told twice is known; nil from an older broker and for ``Kind/resumed``.
    public let nonce: String?

    private enum CodingKeys: String, CodingKey {
        case kind = "type"
        case session, time, nonce
    }

    /// Makes an event.
    package init(_ kind: Kind, session: UInt64, time: Date? = nil, nonce: String? = nil) {
        self.kind = kind
        self.session = session
        self.time = time
        self.nonce = nonce
    }

    /// The notification's name on Apple platforms, which is the contract between apps and brokers (SI-058).
    public static let darwinNotificationName = "SHARED_MODE_CURRENT_ACCOUNT_CHANGED"
}
