package import CordonBase

/// Why the vault did not do what it was asked, without any secret.
public struct VaultError: Error, Sendable, Equatable {
    /// What kind of failure it was.
    public enum Code: String, Sendable, CaseIterable {
        /// An argument cannot be used: a negative offset, an empty account, a chunk size that is not offered.
        case invalidArgument
        /// There is no file at the path.
        case noSuchFile
        /// The path is a directory and the call wants a file.
        case isDirectory
        /// Something is already there.
        case alreadyExists
        /// The bytes do not begin as a sealed file or protected buffer does.
        case notSealed
        /// A newer format, or an algorithm this version does not know.
        case unsupportedFormat
        /// The bytes were changed, cut, extended, moved or mixed; nothing of them is returned.
        case damaged
        /// The account's key on this device is not the one the file was sealed for.
        case wrongKey
        /// This device has no key for the account.
        case unknownAccount
        /// The account's key is not in memory; unlock it first.
        case locked
        /// The account's data was wiped.
        case wiped
        /// A wipe of the account has begun and is not finished.
        case wipePending
        /// Another process or handle writes to the file.
        case inUse
        /// A writer has committed since, and what this reader was reading is gone; refresh, and begin again.
        case overtaken
        /// The file was opened for reading only.
        case readOnly
        /// The file was closed, or an earlier write to it failed.
        case closed
        /// The disk is full.
        case noSpace
        /// The system refused a read, a write or another file operation.
        case inputOutput
        /// The device's key store refused or holds something unusable.
        case keyStore
        /// The file's content key has sealed as often as is safe.
        case keyExhausted
        /// Encryption failed.
        case sealingFailed
        /// The input carries no protection, and the caller demanded it.
        case notProtected
        /// The input has no bytes, and the caller demanded some.
        case empty
    }

    /// What kind of failure it was. Equality compares nothing else.
    public let code: Code
    /// What was wrong, without any secret.
    public private(set) var reason: String
    /// Where: a path or an offset; nil where the reason says it all.
    public private(set) var place: String?
    /// What to do about it.
    public let hint: String
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error; the hint is the usual one of its kind.
    public init(
        _ code: Code, _ reason: String, place: String? = nil, hint: String? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.code = code
        self.reason = reason
        self.place = place
        self.hint = hint ?? code.usualHint
        codePlace = CodePlace(file, line)
    }

    /// The same error, of a file.
    func at(_ path: String) -> VaultError {
        var error = self
        error.place = path
        return error
    }

    /// The same error with its place in the reason, for whoever has to know which of many files it is.
    package var sayingWhere: VaultError {
        var error = self
        if let place { error.reason += " (\(place))" }
        return error
    }

    /// Whether both have the same code.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}

extension VaultError {
    /// The error of a call for files that meets a database.
    static let isDatabase = VaultError(
        .notSealed, "This is a sealed database, not a sealed file.",
        hint: "Open it with SQLite through SealedDatabases.")

    /// The error of a call that would seal a file under one of its names and leave it as it is under the others.
    static func severalNames(_ path: String) -> VaultError {
        VaultError(
            .invalidArgument, "The file has several names, and would stay as it is under the others.", place: path,
            hint: "Remove the other names, or copy the file, then try again.")
    }
}

extension VaultError: CustomStringConvertible {
    /// The code, the reason and the place.
    public var description: String {
        "\(code.rawValue): \(reason)" + (place.map { " (\($0))" } ?? "")
    }
}

extension VaultError.Code {
    private var usualHints: [VaultError.Code: String] {
        [
            .invalidArgument: "Correct the call.",
            .noSuchFile: "Check the path.",
            .isDirectory: "Name a file, or use the call for directories.",
            .alreadyExists: "Remove what is there, or choose another name.",
            .notSealed: "Open it as an ordinary file, or protect it first.",
            .unsupportedFormat: "Update the app; an older version cannot read what a newer one wrote.",
            .damaged: "Restore the file from a copy; do not use any part of it.",
            .wrongKey: "The file belongs to an earlier enrolment or to another device; it cannot be opened here.",
            .unknownAccount: "Enrol the account on this device first.",
            .locked: "Unlock the account, then try again.",
            .wiped: "The data is gone; enrol the account again to begin anew.",
            .wipePending: "Resume the wipe, then try again.",
            .inUse: "Close the other writer, then try again.",
            .overtaken: "Refresh the file, then read it from the beginning.",
            .readOnly: "Open the file for writing.",
            .closed: "Open the file again.",
            .noSpace: "Free some space, then open the file again; what was synced is intact.",
            .inputOutput: "Check the disk and the permissions, then open the file again.",
            .keyStore: "Check the key store's permissions; do not recreate it, or all its data is lost.",
            .keyExhausted: "Copy the file through the vault; the copy gets a new key.",
            .sealingFailed: "Check that the system can give random bytes and memory.",
            .notProtected: "Use the form that passes foreign data through.",
            .empty: "Give at least one byte.",
        ]
    }

    fileprivate var usualHint: String { usualHints[self] ?? "See the reason." }
}
