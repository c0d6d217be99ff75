/// What can go wrong when the development identity provider is set up: its directory, its key file, its configuration
/// or the address it is asked to listen on.
///
/// Two errors are equal when their codes are equal. No secret is ever part of one.
public struct IdentityProviderError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure; stable, to be matched by callers.
    public enum Code: String, Sendable, CaseIterable {
        /// A file cannot be read.
        case fileUnreadable = "file-unreadable"
        /// A file cannot be written.
        case fileUnwritable = "file-unwritable"
        /// A file with secrets may be read by other users of the machine.
        case fileNotPrivate = "file-not-private"
        /// The directory is not what a directory must look like.
        case directoryInvalid = "directory-invalid"
        /// A person or group with this id or name exists already.
        case duplicate = "duplicate"
        /// A password is empty or too long, or its scrypt parameters are out of bounds.
        case passwordUnusable = "password-unusable"
        /// The key file holds no P-256 private key.
        case signingKeyInvalid = "signing-key-invalid"
        /// A client, a resource or a lifetime in the configuration cannot be used.
        case configurationInvalid = "configuration-invalid"
        /// The provider was asked to answer on an address that other machines reach.
        case notLoopback = "not-loopback"
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong, in one sentence.
    public let reason: String
    /// Where: a file path, or a place inside a document such as `people[2].userPrincipalName`.
    public let place: String
    /// What to do about it.
    public let hint: String

    /// Makes an error; never put a secret into any of the texts.
    public init(_ code: Code, reason: String, place: String, hint: String) {
        self.code = code
        self.reason = reason
        self.place = place
        self.hint = hint
    }

    /// One line for a terminal or a log.
    public var description: String { "\(place): \(reason) (\(hint))" }

    /// Equal when the codes are equal.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
