package import CordonBase

/// Why a message between app and service was refused.
public struct ProtocolError: Error, Sendable, Equatable {
    /// What kind of refusal it was.
    public enum Code: String, Sendable, CaseIterable {
        /// The bytes are not a message of the expected form.
        case malformed
        /// The algorithm, type or another header member is not the one and only accepted.
        case unsupported
        /// No trusted key has the id that the message names.
        case unknownKey
        /// The signature does not match the message.
        case wrongSignature
        /// The message is meant for another receiver, request or key.
        case wrongRecipient
        /// The message is too old, or not valid yet.
        case expired
        /// The message was seen before, or a newer one was.
        case replayed
        /// A key could not sign.
        case signingFailed
    }

    /// What kind of refusal it was; the only part that equality looks at.
    public let code: Code
    /// What was wrong and where, without any secret.
    public let reason: String
    /// What to do about it.
    public let hint: String
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error; the hint is the usual one of its kind.
    public init(
        _ code: Code, _ reason: String, hint: String? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.reason = reason
        self.hint = hint ?? code.usualHint
        codePlace = CodePlace(file, line)
    }

    /// Whether both have the same code.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}

extension ProtocolError: CustomStringConvertible {
    /// The code, what was wrong and what to do, in one line.
    public var description: String {
        "\(code.rawValue): \(reason)\(reason.hasSuffix(".") ? "" : ".") \(hint)"
    }
}

extension ProtocolError.Code {
    fileprivate var usualHint: String {
        switch self {
        case .malformed, .unsupported: "Check that both sides speak the same protocol version."
        case .unknownKey: "Fetch the key set again; if the key stays unknown, the message is forged or the pin is old."
        case .wrongSignature: "Discard the message; it was changed on its way or signed with another key."
        case .wrongRecipient: "Discard the message; it was made for another recipient."
        case .expired: "Ask for a fresh message and compare the clocks of both sides."
        case .replayed: "Discard the message and check in again."
        case .signingFailed: "Check that the device key is still available."
        }
    }
}
