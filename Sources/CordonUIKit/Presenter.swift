#if canImport(UIKit)
    internal import Cordon
    internal import UIKit

    /// What the system's screens are shown on.
    enum Presenter {
        /// A controller on screen that shows nothing yet: elsewhere, and over another screen, the system would show none, and never say so.
        @MainActor static func free(
            _ controller: @MainActor @Sendable () -> UIViewController?
        ) throws(ProtectionError) -> UIViewController {
            guard let controller = controller(), controller.presentedViewController == nil,
                controller.viewIfLoaded?.window != nil
            else {
                throw ProtectionError(.outletFailed, "there is nothing to show the system's screen on")
            }
            return controller
        }
    }
#endif
