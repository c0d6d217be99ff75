#if canImport(UIKit)
    internal import Cordon
    internal import CordonScreens
    internal import Foundation
    internal import UIKit

    /// The window above all of an app's: it covers, and shows Cordon's screens. It holds nothing of the app's, so that a picture of it shows
    /// none of an account's data.
    @MainActor final class OverlayWindow: UIWindow {
        private let screens: GateViewController
        private var shown: ShownScreen?

        /// Whether the app is hidden whatever is shown.
        var isCovering = true {
            didSet { update() }
        }

        init(_ scene: UIWindowScene, _ interface: ScreenInterface) {
            screens = GateViewController { [interface] in interface.answer($0, typed: $1, to: $2) }
            super.init(windowScene: scene)
            // Above alerts and sheets of the app's own.
            windowLevel = Level(rawValue: Level.alert.rawValue + 1)
            rootViewController = screens
            update()
        }

        @available(*, unavailable)
        required init?(coder: NSCoder) { nil }

        /// Shows a screen of Cordon's; nil is the app itself.
        func show(_ shown: ShownScreen?) {
            self.shown = shown
            update()
        }

        private func update() {
            if isCovering {
                var cover = GateScreen.cover(of: nil)
                if let theme = shown?.screen.theme { cover.theme = theme }
                screens.show(ShownScreen(id: 0, screen: cover))
                isHidden = false
            } else if let shown {
                isHidden = false
                // Before the screen is drawn: only a window that is key is typed into.
                if shown.screen.field != nil { makeKey() }
                screens.show(shown)
            } else if !isHidden {
                isHidden = true
                windowScene?.windows.first { $0 !== self && !$0.isHidden }?.makeKey()
            }
        }
    }
#endif
