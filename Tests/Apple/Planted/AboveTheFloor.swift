// refused: needs iOS 18
// Writing tools are younger than the floor.

import UIKit

@MainActor func guarded(_ view: UITextView) { view.writingToolsBehavior = .none }
