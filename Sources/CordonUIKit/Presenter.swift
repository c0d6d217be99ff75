#if canImport(UIKit)
    internal import Cordon
    internal import UIKit

    /// What the system's screens are shown on.
    enum Presenter {
        /// A controller on screen that presents nothing yet: anywhere else the system presents nothing and reports no error.
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
