package import CordonBase

/// Why a program of the organisation's side could not start or go on: the service, the broker, the development identity
/// provider or the demo. What single requests meet is another error.
///
/// No secret is ever part of one. Errors with the same ``code`` are equal.
public struct ProgramError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it was; stable, for callers to match.
    public enum Code: String, Sendable, CaseIterable {
        /// A value or document of the configuration cannot be read or used.
        case configurationInvalid = "configuration-invalid"
        /// A file or folder that the program needs cannot be used.
        case fileUnusable = "file-unusable"
        /// A file cannot be read.
        case fileUnreadable = "file-unreadable"
        /// A file cannot be written.
        case fileUnwritable = "file-unwritable"
        /// A file with secrets can be read by other users of the machine.
        case fileNotPrivate = "file-not-private"
        /// Another program has the port.
        case addressInUse = "address-in-use"
        /// The address or socket isn't this machine's, cannot be bound, or another program answers there.
        case addressUnavailable = "address-unavailable"
        /// The development provider was asked to answer on an address that other machines reach.
        case notLoopback = "not-loopback"
        /// This system lacks what the program needs.
        case unsupported
        /// The development provider's directory is not of the documented form.
        case directoryInvalid = "directory-invalid"
        /// A person or group with this id or name exists already.
        case duplicate
        /// A password is empty or too long, or its scrypt parameters are out of bounds.
        case passwordUnusable = "password-unusable"
        /// The key file holds no P-256 private key.
        case signingKeyInvalid = "signing-key-invalid"
        /// The program ended with an error, or one that it started did.
        case failed
    }

    /// What kind of failure it was; the only part that equality looks at.
    public let code: Code
    /// What was wrong, in one sentence.
    public let reason: String
    /// Where: a file, an address, or a place in a document such as `people[2].userPrincipalName`; empty where the reason says it.
    public let place: String
    /// What to do about it, nil where the reason says it.
    public let hint: String?
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error; never put a secret into any of the texts.
    public init(
        _ code: Code, reason: String, place: String = "", hint: String? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.code = code
        self.reason = reason
        self.place = place
        self.hint = hint
        codePlace = CodePlace(file, line)
    }

    /// Place, reason and hint in one line.
    public var description: String {
        (place.isEmpty ? "" : place + ": ") + reason + (hint.map { " (\($0))" } ?? "")
    }

    /// Whether both have the same code.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
