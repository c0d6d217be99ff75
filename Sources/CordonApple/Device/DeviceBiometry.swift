#if canImport(LocalAuthentication)
    public import Cordon
    public import CordonScreens
    internal import Foundation
    internal import LocalAuthentication

    /// Face ID and Touch ID, for ``ScreenInterface``. The app's Info.plist says why with `NSFaceIDUsageDescription`.
    ///
    /// Any thread may call.
    public struct DeviceBiometry: BiometryReader {
        private let handed: HandedRecognition?

        /// Makes a reader.
        ///
        /// - Parameter items: Where the account's key opens with the same finger or face: the dialog that the person has answered here does for
        ///   the reading there as well, once, within half a minute. Nil has the system ask a second time.
        public init(opening items: KeychainBiometry? = nil) { handed = items?.handed }

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

        /// Whether the device recognised the person; false also when they cancelled.
        public func recognises(because reason: String) async -> Bool {
            let recognition = Recognition()
            let isRecognised = await withTaskCancellationHandler {
                await recognition.run(reason)
            } onCancel: {
                Task { await recognition.stop() }
            }
            if isRecognised { await handed?.hand(recognition) }
            return isRecognised
        }

        /// Whether the device has a passcode, for ``DeviceFacts/devicePINSet``.
        static var hasPasscode: Bool { LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) }
    }
#endif
