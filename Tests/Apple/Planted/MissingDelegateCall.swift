// refused: does not conform to protocol
// A delegate without the call that decides.

import Foundation
import UIKit

@MainActor final class Drops: NSObject, UIDropInteractionDelegate {
    func dropInteraction(_ interaction: UIDropInteraction, performDrop session: any UIDropSession) {}
}
