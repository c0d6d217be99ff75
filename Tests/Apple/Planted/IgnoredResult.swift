// refused: is unused
// Whether the page began is looked at by nobody.

import Foundation
import UIKit

@MainActor func open(_ url: URL) async { await UIApplication.shared.open(url) }
