#if canImport(LocalAuthentication)
    internal import CordonBase
    internal import Foundation
    internal import LocalAuthentication

    /// One dialog of the system, which can be taken away; after it, what it vouches for.
    actor Recognition {
        let context = LAContext()

        init() {
            // The PIN is asked for on Cordon's own screen; the device's passcode does not stand in for it.
            context.localizedFallbackTitle = ""
        }

        func run(_ reason: String) async -> Bool {
            await withCheckedContinuation { continuation in
                context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: reason) {
                    isRecognised, _ in
                    continuation.resume(returning: isRecognised)
                }
            }
        }

        func stop() { context.invalidate() }
    }

    /// The dialog that the person has just answered, for the one reading that follows it, so that one dialog does for both.
    final class HandedRecognition: Sendable {
        /// Long enough for the gate to go on, and too short for anything else.
        private static let lifetime = Duration.seconds(30)

        private let handed = Locked<(recognition: Recognition, until: ContinuousClock.Instant)?>(nil)

        /// Hands a dialog over in place of one that was not taken.
        func hand(_ recognition: Recognition) async {
            let former = handed.withLock { handed in
                defer { handed = (recognition, .now + Self.lifetime) }
                return handed
            }
            await former?.recognition.stop()
        }

        /// The dialog, once; nil where there was none a short time ago.
        func take() async -> Recognition? {
            let last = handed.withLock { handed in
                defer { handed = nil }
                return handed
            }
            guard let last else { return nil }
            guard .now < last.until else {
                await last.recognition.stop()
                return nil
            }
            return last.recognition
        }
    }
#endif
