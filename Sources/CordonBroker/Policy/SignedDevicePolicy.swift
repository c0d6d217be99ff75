public import CordonIdentity
public import CordonProtocol
internal import CordonSignIn
public import Foundation

/// The rules of a shared device in one signed file: mode, organisation, provider, apps and limits (SI-199).
///
/// The file is a compact JWS of type `cordon-device-policy+jwt` with the key inside; a broker believes keys by their
/// thumbprint. It is read at the start of the broker.
public struct SignedDevicePolicy: Sendable, Equatable {
    /// Rises with every new file; a device that has seen a higher one refuses this one.
    public var version: Int
    /// The organisation; the device joins no other.
    public var tenant: TenantID
    /// The one device that it is for; nil for every device of the organisation.
    public var device: String?
    /// What a configuration file would say, JSON.
    public var configuration: Data

    /// The largest file, in bytes.
    public static let largest = 1 << 20

    /// Makes a policy.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid` when a broker would refuse it.
    public init(
        version: Int, tenant: TenantID, device: String? = nil, configuration: Data
    ) throws(ProgramError) {
        _ = try BrokerConfiguration(json: configuration, place: "policy")
        guard version > 0, !tenant.rawValue.isEmpty else {
            throw Self.refusal("a policy needs an organisation and a version above zero", place: "policy")
        }
        self.version = version
        self.tenant = tenant
        self.device = device
        self.configuration = configuration
    }

    private struct Head: Codable {
        var version: Int
        var tenant: TenantID
        var device: String?
    }

    /// The signed file.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid` when the key cannot sign.
    public func signed(by signer: some MessageSigner) throws(ProgramError) -> String {
        do {
            var members: [String: Any] = ["version": version, "tenant": tenant.rawValue]
            members["device"] = device
            members["configuration"] = try JSONSerialization.jsonObject(with: configuration)
            let payload = try JSONSerialization.data(withJSONObject: members, options: [.sortedKeys])
            return try CompactJWS.sign(payload, type: .devicePolicy, with: signer, embedsKey: true)
        } catch {
            throw Self.refusal("the policy could not be signed", place: "policy")
        }
    }

    /// Reads a signed file.
    ///
    /// - Parameter trusted: RFC 7638 thumbprints of the keys that may sign.
    /// - Throws: ``ProgramError`` with code `configurationInvalid`: unsigned, signed by a key that is not trusted, or not a policy.
    public init(verifying bytes: Data, trusting trusted: Set<String>, place: String) throws(ProgramError) {
        guard bytes.count <= Self.largest else { throw Self.refusal("the policy is too large", place: place) }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let payload: Data
        let key: JSONWebKey
        let head: Head
        do throws(ProtocolError) {
            (payload, key) = try CompactJWS.payloadWithEmbeddedKey(of: text, type: .devicePolicy)
            guard trusted.contains(key.thumbprint) else {
                throw ProtocolError(.unknownKey, "a key that is not trusted here signed it")
            }
            head = try MessageCoding.decode(Head.self, from: payload)
        } catch {
            throw Self.refusal("the policy is not acceptable: \(error.reason)", place: place)
        }
        guard let members = try? JSONSerialization.jsonObject(with: payload) as? [String: Any],
            let inner = members["configuration"] as? [String: Any],
            let configuration = try? JSONSerialization.data(withJSONObject: inner, options: [.sortedKeys])
        else { throw Self.refusal("the policy holds no configuration", place: place) }
        try self.init(version: head.version, tenant: head.tenant, device: head.device, configuration: configuration)
    }

    static func refusal(_ reason: String, place: String) -> ProgramError {
        ProgramError(
            .configurationInvalid, reason: reason, place: place,
            hint: "Have the newest policy of this device signed and installed.")
    }
}

extension BrokerConfiguration {
    /// The configuration that a signed policy gives. It stands for the profile as well: on Linux it is the organisation's
    /// one word on the mode.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    public init(policy: SignedDevicePolicy, place: String) throws(ProgramError) {
        try self.init(json: policy.configuration, place: place)
        profileSaysShared = managedConfigurationSaysShared
        self.policy = PolicyStamp(version: policy.version, tenant: policy.tenant, device: policy.device)
    }

    /// What the broker checks a signed policy by.
    public struct PolicyStamp: Sendable, Equatable {
        /// The policy's version.
        public let version: Int
        /// The organisation.
        public let tenant: TenantID
        /// The one device, nil for every one.
        public let device: String?

        /// Whether the device may be run by these rules: not older than the newest it has seen, meant for it, and signed
        /// wherever it has once been run by signed ones (SI-199).
        ///
        /// - Parameter newest: The newest that the device was run by, nil for none.
        static func check(
            _ policy: Self?, for state: BrokerState, newest: Int?, place: String
        ) throws(ProgramError) {
            guard let policy else {
                guard newest == nil else {
                    throw SignedDevicePolicy.refusal(
                        "this device takes its rules from a signed policy only", place: place)
                }
                return
            }
            guard policy.version >= newest ?? 0 else {
                throw SignedDevicePolicy.refusal("the policy is older than the newest one seen here", place: place)
            }
            guard let facts = state.registration?.facts else {
                guard policy.device == nil else {
                    throw SignedDevicePolicy.refusal("the policy is for a device that has joined", place: place)
                }
                return
            }
            guard policy.tenant == facts.tenant, policy.device.map({ $0 == facts.deviceID }) ?? true else {
                throw SignedDevicePolicy.refusal("the policy is for another device", place: place)
            }
        }
    }
}
