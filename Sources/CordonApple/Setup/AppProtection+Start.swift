#if canImport(UIKit) && canImport(Security)
    public import Cordon
    internal import CordonScreens
    internal import Foundation
    internal import Security
    internal import UIKit

    extension AppProtection {
        /// Runs what needs the Keychain, such as making the protection, when the device was unlocked since its start.
        ///
        /// The system may launch an app before the device was unlocked, to be quick later (prewarming), or for a background task. Nothing of the
        /// organisation's can be opened then; this waits for the first unlock.
        @MainActor public static func whenUnlocked<Value: Sendable>(
            _ keychain: SystemKeychain = SystemKeychain(), _ start: @MainActor () async throws -> Value
        ) async throws -> Value {
            while keychain.isLocked { await firstUnlock(keychain) }
            return try await start()
        }

        @MainActor private static func firstUnlock(_ keychain: SystemKeychain) async {
            let (unlocks, unlock) = AsyncStream.makeStream(of: Void.self)
            let observer = NotificationCenter.default.addObserver(
                forName: UIApplication.protectedDataDidBecomeAvailableNotification, object: nil, queue: nil
            ) { _ in unlock.yield() }
            defer { NotificationCenter.default.removeObserver(observer) }
            // It may have come between the look and the observer.
            guard keychain.isLocked else { return }
            for await _ in unlocks { return }
        }
    }

    extension SystemKeychain {
        /// Whether nothing can be read because the device was not unlocked since its start.
        public var isLocked: Bool {
            data(service: "cordon.probe", account: "probe").status == errSecInteractionNotAllowed
        }
    }
#endif
