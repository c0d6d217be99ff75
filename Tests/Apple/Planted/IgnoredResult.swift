// refused: is unused
// Whether the page began is not looked at.

import Foundation
import UIKit

@MainActor func open(_ url: URL) async { await UIApplication.shared.open(url) }
