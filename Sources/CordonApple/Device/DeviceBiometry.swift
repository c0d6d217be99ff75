#if canImport(LocalAuthentication)
    public import Cordon
    public import CordonScreens
    internal import Foundation
    internal import LocalAuthentication

    /// Face ID and Touch ID, for ``ScreenInterface``. The app's Info.plist says why with `NSFaceIDUsageDescription`.
    ///
    /// While the system's dialog is up the scene is inactive; ``isAsking(_:)`` is told before and after, so that the cover leaves the PIN screen
    /// alone. Any thread may call.
    public struct DeviceBiometry: BiometryReader {
        private let isAsking: @Sendable (Bool) async -> Void

        /// Makes a reader.
        ///
        /// - Parameter isAsking: Told when the system's dialog comes and when it has gone.
        public init(isAsking: @escaping @Sendable (Bool) async -> Void = { _ in }) {
            self.isAsking = isAsking
        }

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
            await isAsking(true)
            let recognition = Recognition()
            let isRecognised = await withTaskCancellationHandler {
                await recognition.run(reason)
            } onCancel: {
                Task { await recognition.stop() }
            }
            await isAsking(false)
            return isRecognised
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
