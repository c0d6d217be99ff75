public import Crypto

/// How a call of ``BiometryItems`` ended, in the words of Apple's Keychain.
public enum BiometryItemStatus: String, Sendable, Hashable, CaseIterable {
    /// It was done (`errSecSuccess`).
    case done
    /// There is no such item (`errSecItemNotFound`): none was kept, or the fingers or the face enrolled here have changed since.
    case notFound
    /// The person cancelled (`errSecUserCanceled`).
    case cancelled
    /// The person was not recognised (`errSecAuthFailed`).
    case notRecognised
    /// Nothing may be shown, or there is no biometry now (`errSecInteractionNotAllowed`, `errSecNotAvailable`).
    case unavailable
}

/// Keeps a key that the system gives out only for a finger or a face, and drops when the enrolled ones change: on Apple
/// platforms a Keychain item of this device with the access control `biometryCurrentSet`.
///
/// Any thread may call. No call may wait longer than the person takes.
public protocol BiometryItems: Sendable {
    /// Keeps a key of 256 bits in place of one of the same name, without a prompt.
    func keep(_ key: SymmetricKey, named name: String) async -> BiometryItemStatus

    /// Gives a key out after the person was recognised.
    ///
    /// - Returns: The key with ``BiometryItemStatus/done``; nil with every other status.
    func key(named name: String) async -> (status: BiometryItemStatus, key: SymmetricKey?)

    /// Destroys a key; a missing key is ``BiometryItemStatus/done`` too. A wipe's receipt mentions a key that stays.
    func forget(_ name: String) async -> BiometryItemStatus
}
