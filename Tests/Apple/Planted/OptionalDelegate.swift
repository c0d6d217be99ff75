// refused: must be unwrapped
// A value that may be missing.

import UIKit

@MainActor func redirect(_ session: any UIDropSession) -> Int { session.localDragSession.items.count }
