/// Whether a device may be used for the organisation's work (SRV-CI-010, SRV-CI-022).
public struct ComplianceReport: Sendable, Codable, Equatable {
    /// How it stands.
    public var status: Status
    /// The id of a text that tells the person why, for the app to show in their language; nil when there is nothing to say.
    public var textID: TextID?

    /// The documented numbers of compliance.
    public enum Status: Int, Sendable, Codable {
        /// Everything is in order.
        case compliant = 0
        /// Something must be put right.
        case notCompliant = 1
        /// The service could not tell.
        case serviceFailure = 2
        /// The service could not be reached; only ever set by the device itself.
        case networkFailure = 3
        /// The person must do something first.
        case interactionRequired = 4
        /// The person declined; only ever set by the device itself.
        case userCancelled = 5
    }

    /// Why a device is not compliant.
    public enum TextID: String, Sendable, Codable {
        /// The device is rooted or jailbroken.
        case rootedDevice
        /// An administrator has blocked the person.
        case userBlocked
        /// The organisation's data is about to be removed.
        case wipePending
        /// The person must sign in again.
        case signInAgain
    }

    /// Reads a report; a text that this version does not know is none, so that the status counts, and what came with it.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(Status.self, forKey: .status),
            textID: try members.decodeIfPresent(String.self, forKey: .textID).flatMap(TextID.init))
    }

    /// Makes a report.
    public init(_ status: Status, textID: TextID? = nil) {
        self.status = status
        self.textID = textID
    }
}

/// What an app sends to have compliance looked at again (SRV-CI-022).
public struct RemediationRequest: Sendable, Codable, Equatable {
    /// Whether the person must not be asked for anything now.
    public var silent: Bool
    /// What the device finds wrong with itself at this moment.
    public var health: [CheckInRequest.DeviceHealth]

    /// Makes a request.
    public init(silent: Bool, health: [CheckInRequest.DeviceHealth]) {
        self.silent = silent
        self.health = health
    }
}
