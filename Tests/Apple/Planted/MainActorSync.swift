// refused: main actor-isolated
// A pasteboard is read where any thread may be.

import CordonScreens
import UIKit

struct Board: Sendable {
    func read() -> Bool { UIPasteboard.general.contains(pasteboardTypes: [PasteboardCodec.sealedType]) }
}
