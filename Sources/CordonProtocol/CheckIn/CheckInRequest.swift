public import CordonIdentity
package import CordonPolicy
public import Foundation

/// What an enrolled app sends at every check-in (SRV-CI-003).
public struct CheckInRequest: Sendable, Codable, Equatable {
    /// The sequence number of the envelope in force, 0 when none is.
    public var appliedSequence: Int64
    /// The version of the policy in force, nil when none is.
    public var appliedVersion: String?
    /// The SHA-256 of the envelope in force as received, base64url, nil when none is.
    public var appliedDigest: String?
    /// The app, whose version may have changed since registration.
    public var application: ApplicationFacts
    /// The device, whose system version may have changed since registration.
    public var device: DeviceDescription
    /// What the device found wrong with itself; empty when nothing.
    public var health: [DeviceHealth]
    /// The envelopes that the device refused since the last check-in (SRV-CI-085); nil when none.
    public var refusedEnvelopes: [RefusedEnvelope]?
    /// The device's own clock.
    public var clientTime: Date
    /// A random value that a new envelope repeats.
    public var nonce: String
    /// What launch conditions did since the last check-in that succeeded, oldest first; nil when nothing (SRV-CI-011).
    public var outcomes: [ConditionReport]?
    /// How often the app has stored its registration, from 0 to below 2^29; nil from older apps. The service keeps the highest and says it in its
    /// ``ContactProof``.
    public var stateGeneration: Int64?
    /// ``RecoveryShare/digest`` of the share that the app has left with the service, nil where it has left none and from older apps. The
    /// service says in its ``ContactProof`` whether it keeps that share.
    public var recoveryShareDigest: String?

    /// What a device can find wrong with itself.
    public enum DeviceHealth: String, Sendable, Codable {
        /// The device is rooted or jailbroken.
        case rootedDevice
        /// Nothing outside the app's folder knows how new its state is: who puts an older copy back is not noticed. Sent only to services
        /// that sign their answers (``CheckInResponse/contact``), since older ones do not know it.
        case uncountedState
    }

    /// Makes a request.
    public init(
        appliedSequence: Int64, appliedVersion: String?, appliedDigest: String?, application: ApplicationFacts,
        device: DeviceDescription, health: [DeviceHealth], refusedEnvelopes: [RefusedEnvelope]? = nil,
        clientTime: Date, nonce: String, outcomes: [ConditionReport]? = nil,
        stateGeneration: Int64? = nil, recoveryShareDigest: String? = nil
    ) {
        self.stateGeneration = stateGeneration
        self.recoveryShareDigest = recoveryShareDigest
        self.appliedSequence = appliedSequence
        self.appliedVersion = appliedVersion
        self.appliedDigest = appliedDigest
        self.application = application
        self.device = device
        self.health = health
        self.refusedEnvelopes = refusedEnvelopes
        self.clientTime = clientTime
        self.nonce = nonce
        self.outcomes = outcomes
    }
}

extension CheckInRequest {
    /// Reads the usual request, one without reports, from JSON that was parsed already; nil for every other, which
    /// ``MessageCoding`` reads or refuses. What both read is the same: this one only spares a decoder at every check-in.
    package init?(usual value: JSONValue) {
        guard let members = value.object, members["outcomes"] == nil, members["refusedEnvelopes"] == nil,
            case .integer(let sequence)? = members["appliedSequence"],
            let application = ApplicationFacts(usual: members["application"]),
            let device = DeviceDescription(usual: members["device"]), case .array(let health)? = members["health"],
            case .string(let time)? = members["clientTime"], let clientTime = try? Date(time, strategy: .iso8601),
            case .string(let nonce)? = members["nonce"], let version = members.text("appliedVersion"),
            let digest = members.text("appliedDigest"), let share = members.text("recoveryShareDigest")
        else { return nil }
        let found = health.compactMap { $0.string.flatMap(DeviceHealth.init(rawValue:)) }
        guard found.count == health.count else { return nil }
        switch members["stateGeneration"] {
        case nil: stateGeneration = nil
        case .integer(let generation)?: stateGeneration = generation
        default: return nil
        }
        appliedSequence = sequence
        appliedVersion = version
        appliedDigest = digest
        recoveryShareDigest = share
        self.application = application
        self.device = device
        self.health = found
        self.clientTime = clientTime
        self.nonce = nonce
    }
}

extension ApplicationFacts {
    fileprivate init?(usual value: JSONValue?) {
        guard let members = value?.object, case .string(let bundleID)? = members["bundleID"],
            case .string(let version)? = members["version"], case .string(let sdkVersion)? = members["sdkVersion"],
            let stated = members.text("management"), let build = members.text("build")
        else { return nil }
        let management = stated.flatMap(Management.init(rawValue:))
        guard (management == nil) == (stated == nil) else { return nil }
        self.init(bundleID: bundleID, version: version, build: build, sdkVersion: sdkVersion, management: management)
    }
}

extension DeviceDescription {
    fileprivate init?(usual value: JSONValue?) {
        guard let members = value?.object, case .string(let tag)? = members["tag"],
            case .string(let osVersion)? = members["osVersion"], case .string(let model)? = members["model"],
            let name = members.text("name")
        else { return nil }
        self.init(tag: tag, osVersion: osVersion, model: model, name: name)
    }
}

extension [String: JSONValue] {
    /// A text that may be absent; nil for anything else.
    fileprivate func text(_ name: String) -> String?? {
        switch self[name] {
        case nil: .some(nil)
        case .string(let text)?: .some(text)
        default: nil
        }
    }
}

/// An envelope that a device did not accept, as it tells the service at its next check-in.
public struct RefusedEnvelope: Sendable, Codable, Equatable {
    /// The account it was offered for.
    public var account: AccountID
    /// The name of the ``ProtocolError`` code: which check failed.
    public var code: String
    /// When, by the device's clock.
    public var time: Date

    /// Makes a report.
    public init(account: AccountID, code: String, time: Date) {
        self.account = account
        self.code = code
        self.time = time
    }
}
