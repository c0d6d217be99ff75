// refused: main actor-isolated
// A view is touched from a callback that is not the main actor's.

import UIKit

func cover(_ window: UIWindow) { window.isHidden = false }
