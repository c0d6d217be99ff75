// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation
public import Security

public enum LAPolicy: Int, Sendable {
    case deviceOwnerAuthenticationWithBiometrics = 1
    case deviceOwnerAuthentication = 2
}
public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    @available(iOS 17.0, macOS 14.0, *)
    case opticID = 4
}
@available(iOS 9.0, macOS 10.11, *)
public enum LAAccessControlOperation: Int, Sendable {
    case createItem = 0
    case useItem = 1
}
@available(iOS 8.0, macOS 10.10, *)
public struct LAError: Error {
    public enum Code: Int, Sendable {
        case authenticationFailed = -1
        case userCancel = -2
        case userFallback = -3
        case systemCancel = -4
        case passcodeNotSet = -5
        case appCancel = -9
        case invalidContext = -10
        @available(iOS 11.0, macOS 10.13, *)
        case biometryNotAvailable = -6
        @available(iOS 11.0, macOS 10.13, *)
        case biometryNotEnrolled = -7
        @available(iOS 11.0, macOS 10.13, *)
        case biometryLockout = -8
        case notInteractive = -1004
    }
    public let code: Code
    public init(_ code: Code) { self.code = code }
}
open class LAContext: NSObject, StubAuthentication {
    @available(iOS 8.0, macOS 10.10, *)
    open var interactionNotAllowed = false
    public private(set) var stubIsRecognised = false
    @available(iOS 9.0, macOS 10.11, *)
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.stubAsked += 1
        stubIsRecognised = Self.stubFailure == nil && Self.stubAnswer
        reply(stubIsRecognised, Self.stubFailure ?? (Self.stubAnswer ? nil : LAError(.authenticationFailed)))
    }
    open var localizedFallbackTitle: String?
    open var biometryType: LABiometryType { Self.stubBiometry }
    open func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool {
        policy == .deviceOwnerAuthentication ? Self.stubHasPasscode : Self.stubBiometry != .none
    }
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.stubAsked += 1
        stubIsRecognised = Self.stubAnswer && Self.stubPolicyCounts
        guard let during = Self.stubDuring else { return reply(Self.stubAnswer, nil) }
        Task { @MainActor in
            await during()
            reply(Self.stubAnswer, nil)
        }
    }
    open func invalidate() { stubIsRecognised = false }

    /// Whether the Keychain takes a context that a policy was evaluated in.
    nonisolated(unsafe) public static var stubPolicyCounts = true

    nonisolated(unsafe) public static var stubBiometry = LABiometryType.faceID
    nonisolated(unsafe) public static var stubHasPasscode = true
    nonisolated(unsafe) public static var stubAnswer = true
    /// Why an access control is not fulfilled; nil answers with ``stubAnswer``.
    nonisolated(unsafe) public static var stubFailure: LAError?
    nonisolated(unsafe) public static var stubAsked = 0
    /// What the system does while its dialog is up.
    nonisolated(unsafe) public static var stubDuring: (@MainActor @Sendable () async -> Void)?
}
