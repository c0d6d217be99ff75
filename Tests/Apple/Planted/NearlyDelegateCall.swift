// refused: has different argument labels
// A delegate's call with another name is never called.

import Foundation
import UIKit

@MainActor final class Drag: NSObject, UIDragInteractionDelegate {
    func dragInteraction(_ interaction: UIDragInteraction, itemsForBeginning session: any UIDragSession) -> [UIDragItem]
    { [] }
    func dragInteraction(
        _ interaction: UIDragInteraction, sessionIsRestrictedToDraggingApplications session: any UIDragSession
    ) -> Bool { true }
}
