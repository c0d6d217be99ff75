public import Foundation

/// What an app reports of a command, idempotent by the command's id and phase (SRV-CI-007, SRV-TG-26).
public struct Acknowledgement: Sendable, Codable, Equatable {
    /// The command.
    public var commandID: String
    /// How far it is.
    public var phase: Phase
    /// When, by the device's clock.
    public var time: Date
    /// The receipt of a finished wipe, compact JWS signed by the registration key; nil while it runs.
    public var receipt: String?

    /// The most bytes of an acknowledgement's JSON: a receipt, and a little about it.
    public static let largestBody = WipeReceipt.largestText + 4 << 10

    /// How far a command is.
    public enum Phase: String, Sendable, Codable {
        /// The app has begun.
        case started
        /// All was removed.
        case succeeded
        /// Something could not be removed; the receipt says what.
        case failed
    }

    /// Makes an acknowledgement.
    public init(commandID: String, phase: Phase, time: Date, receipt: String? = nil) {
        self.commandID = commandID
        self.phase = phase
        self.time = time
        self.receipt = receipt
    }
}
