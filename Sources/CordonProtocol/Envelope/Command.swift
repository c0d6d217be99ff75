public import CordonIdentity

/// Something that the service tells an app to do; carried only inside a signed envelope (SRV-CI-006, SRV-CI-086).
public struct Command: Sendable, Codable, Equatable {
    /// The command's id; executed at most once.
    public var id: String
    /// What to do.
    public var kind: Kind
    /// The account it is about.
    public var account: AccountID
    /// Why.
    public var reason: Reason
    /// When it was given, in whole seconds since 1970.
    public var issuedAt: Int64
    /// When it lapses, in whole seconds since 1970.
    public var notAfter: Int64

    /// What an app can be told to do.
    public enum Kind: String, Sendable, Codable {
        /// Remove the organisation's data of the account.
        case wipe
        /// Take the app configuration up anew, although it may not have changed.
        case refreshConfiguration = "refreshConfig"
        /// Send the app's logs, if the person agrees; the command's id is that of the log request.
        case collectLogs
        /// Register again, with the same key.
        case reRegister
        /// Have a new PIN made, after a fresh sign-in.
        case resetPIN = "resetPin"
        /// Something that a newer version of the protocol knows; never carried out.
        case unknown

        /// Reads a kind; one that is not known here is ``unknown``, so that rules and other commands still arrive.
        public init(from decoder: any Decoder) throws {
            self = Kind(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    /// Why a command was given.
    public enum Reason: String, Sendable, Codable {
        /// An administrator named this device.
        case device
        /// An administrator named this person.
        case user
        /// A launch condition failed.
        case conditional
        /// Something that a newer version of the protocol knows.
        case unknown

        /// Reads a reason; one that is not known here is ``unknown``, since nothing that is done hangs on it.
        public init(from decoder: any Decoder) throws {
            self = Reason(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    /// Makes a command.
    public init(
        id: String, kind: Kind, account: AccountID, reason: Reason, issuedAt: Int64, notAfter: Int64
    ) {
        self.id = id
        self.kind = kind
        self.account = account
        self.reason = reason
        self.issuedAt = issuedAt
        self.notAfter = notAfter
    }
}
