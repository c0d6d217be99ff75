#if canImport(LocalAuthentication)
    public import Cordon
    public import CordonScreens
    internal import Foundation
    internal import LocalAuthentication

    /// Face ID and Touch ID, for ``ScreenInterface``. The app's Info.plist says why with `NSFaceIDUsageDescription`.
    ///
    /// Any thread may call.
    public struct DeviceBiometry: BiometryReader {
        /// Makes a reader.
        public init() {}

        /// What the device recognises now; nil where nothing is enrolled, the app may not ask, or too many tries have locked it.
        public var biometry: Biometry? {
            let context = LAContext()
            // What the type is, is only known after this.
            guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) else { return nil }
            switch context.biometryType {
            case .faceID: return .face
            case .touchID: return .finger
            default: return nil
            }
        }

        /// Whether the device recognised the person; false also when they turned away.
        public func recognises(because reason: String) async -> Bool {
            let recognition = Recognition()
            return await withTaskCancellationHandler {
                await recognition.run(reason)
            } onCancel: {
                Task { await recognition.stop() }
            }
        }

        /// Whether the device has a passcode, for ``DeviceFacts/devicePINSet``.
        static var hasPasscode: Bool { LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) }
    }

    /// One dialog of the system, which can be taken away.
    private actor Recognition {
        private let context = LAContext()

        func run(_ reason: String) async -> Bool {
            // The PIN is asked for on Cordon's own screen; the device's passcode does not stand in for it.
            context.localizedFallbackTitle = ""
            return await withCheckedContinuation { continuation in
                context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: reason) {
                    isRecognised, _ in
                    continuation.resume(returning: isRecognised)
                }
            }
        }

        func stop() { context.invalidate() }
    }
#endif
