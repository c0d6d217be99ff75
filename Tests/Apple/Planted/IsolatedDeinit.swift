// refused: isolated deinit needs iOS 18.4
// A deinit on an actor compiles for the floor of no phone before.

import UIKit

@MainActor final class Held {
    private var windows: [UIWindow] = []
    isolated deinit { windows.removeAll() }
}
