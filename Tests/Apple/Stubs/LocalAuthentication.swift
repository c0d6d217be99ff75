// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

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
open class LAContext: NSObject {
    open var localizedFallbackTitle: String?
    open var biometryType: LABiometryType { Self.stubBiometry }
    open func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool {
        policy == .deviceOwnerAuthentication ? Self.stubHasPasscode : Self.stubBiometry != .none
    }
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.stubAsked += 1
        guard let during = Self.stubDuring else { return reply(Self.stubAnswer, nil) }
        Task { @MainActor in
            await during()
            reply(Self.stubAnswer, nil)
        }
    }
    open func invalidate() {}

    nonisolated(unsafe) public static var stubBiometry = LABiometryType.faceID
    nonisolated(unsafe) public static var stubHasPasscode = true
    nonisolated(unsafe) public static var stubAnswer = true
    nonisolated(unsafe) public static var stubAsked = 0
    /// What the system does while its dialog is up.
    nonisolated(unsafe) public static var stubDuring: (@MainActor @Sendable () async -> Void)?
}
