// refused: incorrect argument label
// A label of another call.

import Foundation
import UIKit

@MainActor func export(_ urls: [URL]) -> UIViewController {
    UIDocumentPickerViewController(forExportingURLs: urls, asCopy: true)
}
