public import CordonIdentity
public import Foundation

/// What the broker knows of this device, as it is when it is asked; the system's settings as they were when an administrator last asked
/// (SI-028 to SI-031, SI-127 to SI-134).
public struct DeviceInformation: Sendable, Codable, Equatable {
    /// Whose device it is.
    public enum Mode: String, Sendable, Codable {
        /// No shared device: accounts belong to apps.
        case personal
        /// The account belongs to the device.
        case shared
    }

    /// Why a device is not shared; each names the party that has not done its part (SI-001, SI-018).
    public enum MissingPart: String, Sendable, Codable, CaseIterable {
        /// The MDM's profile for the sign-on extension does not turn the mode on.
        case profile
        /// The broker's own managed configuration does not turn the mode on.
        case managedConfiguration
        /// No cloud device administrator has joined the device to an organisation.
        case registration
    }

    /// What an administrator should know about the device's protection.
    public enum Warning: String, Sendable, Codable, CaseIterable {
        /// The broker runs for development, under the user of its apps.
        case development
        /// Keys lie in files, not in hardware.
        case softwareKey
        /// Programs of one user may read each other's memory (`ptrace_scope` is 0, SI-200).
        case memoryReadable
        /// The system may write the broker's memory to a file when it crashes.
        case memoryDumped
        /// The system may move the broker's memory to a disk.
        case memorySwapped
        /// The broker should follow the screen lock and hears nothing of it; the device counts as locked.
        case seatUnheard
        /// The service could not be told that the device left; an administrator releases it there.
        case serviceNotTold
    }

    /// The registration of a device; it identifies no person (SI-131).
    public struct Registration: Sendable, Codable, Equatable {
        /// The device's id in the directory.
        public var deviceID: String
        /// The organisation.
        public var tenant: TenantID
        /// The provider.
        public var issuer: String
        /// The thumbprint of the device's key.
        public var keyThumbprint: String
        /// Since when.
        public var since: Date
        /// The provider's host.
        public var cloudHost: String? { URL(string: issuer)?.host() }

        /// Makes a registration.
        package init(deviceID: String, tenant: TenantID, issuer: String, keyThumbprint: String, since: Date) {
            self.deviceID = deviceID
            self.tenant = tenant
            self.issuer = issuer
            self.keyThumbprint = keyThumbprint
            self.since = since
        }
    }

    /// Shared or not.
    public var mode: Mode
    /// What is missing for ``Mode/shared``; empty on a shared device.
    public var missing: [MissingPart]
    /// The registration, nil where there is none.
    public var registration: Registration?
    /// The broker program's version.
    public var brokerVersion: String
    /// The version of the protocol that it speaks.
    public var protocolVersion: Int
    /// The session number in force.
    public var session: UInt64
    /// What an administrator should know.
    public var warnings: [Warning]
    /// How sign-in should open, such as `qrpin`; nil when the administrator chose nothing (SI-128).
    public var preferredAuthenticationMethod: String?

    /// What does not work and an administrator can mend, a line each; nil for nothing, for an app, and from an older broker.
    public var problems: [String]?

    /// Whether this is a shared device.
    public var isShared: Bool { mode == .shared }

    /// The device by the names that the sign-on extension of Microsoft's library uses, for code that comes from there; empty
    /// before the device has joined (SI-131). The certificate's thumbprint is the device key's. No `_upn`: it would be a person.
    public var extraInformation: [String: String] {
        guard let registration else { return [:] }
        let prefix = "primary_registration_metadata_"
        var facts = [
            "isSSOExtensionInFullMode": isShared ? "Yes" : "No", prefix + "device_id": registration.deviceID,
            prefix + "tenant_id": registration.tenant.rawValue,
            prefix + "certificate_thumbprint": registration.keyThumbprint,
        ]
        facts[prefix + "cloud_host"] = registration.cloudHost
        return facts
    }

    /// The registration with one organisation; a device has one at most, so nil for every other (SI-133).
    public func registration(with tenant: TenantID) -> Registration? {
        registration.flatMap { $0.tenant == tenant ? $0 : nil }
    }

    /// Makes a description.
    package init(
        mode: Mode, missing: [MissingPart], registration: Registration?, brokerVersion: String, protocolVersion: Int,
        session: UInt64, warnings: [Warning], preferredAuthenticationMethod: String?
    ) {
        self.mode = mode
        self.missing = missing
        self.registration = registration
        self.brokerVersion = brokerVersion
        self.protocolVersion = protocolVersion
        self.session = session
        self.warnings = warnings
        self.preferredAuthenticationMethod = preferredAuthenticationMethod
    }
}

extension DeviceInformation {
    /// Reads a description. Warnings and missing parts that a newer broker names are left out; another mode than the two
    /// is refused, because a guess would be wrong for one of them (SI-194).
    public init(from decoder: any Decoder) throws {
        let answer = try decoder.container(keyedBy: CodingKeys.self)
        mode = try answer.decode(Mode.self, forKey: .mode)
        missing = try answer.decode([String].self, forKey: .missing).compactMap(MissingPart.init(rawValue:))
        registration = try answer.decodeIfPresent(Registration.self, forKey: .registration)
        brokerVersion = try answer.decode(String.self, forKey: .brokerVersion)
        protocolVersion = try answer.decode(Int.self, forKey: .protocolVersion)
        session = try answer.decode(UInt64.self, forKey: .session)
        warnings = try answer.decode([String].self, forKey: .warnings).compactMap(Warning.init(rawValue:))
        preferredAuthenticationMethod = try answer.decodeIfPresent(String.self, forKey: .preferredAuthenticationMethod)
        problems = try answer.decodeIfPresent([String].self, forKey: .problems)
    }
}
