// refused: #selector
// A selector names a method that nothing here looks up.

import Foundation

final class Observer: NSObject {
    func watch() { NotificationCenter.default.addObserver(self, selector: #selector(seen), name: nil, object: nil) }
    @objc func seen() {}
}
