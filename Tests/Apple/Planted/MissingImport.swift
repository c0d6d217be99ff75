// refused: is not available due to missing import
// A member of a module that the file does not import.

import UIKit

@MainActor func last(_ context: UIOpenURLContext) -> String { context.url.lastPathComponent }
