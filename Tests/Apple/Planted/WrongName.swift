// refused: has no member 'setItem'
// The pasteboard has no such call.

import UIKit

@MainActor func copy() { UIPasteboard.general.setItem([:]) }
