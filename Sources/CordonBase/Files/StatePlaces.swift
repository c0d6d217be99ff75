package import Foundation

/// The folders in which this process keeps Cordon's state. Protecting a folder skips the files in them: a key, a record or a lock that was sealed opens
/// nothing any more.
///
/// A place is flat: files deeper down are the app's, and may be sealed. One list serves the process, because the code that protects files does not know
/// which stores the app has opened.
package enum StatePlaces {
    private static let places = Locked<Set<String>>([])

    /// Notes a folder, which need not be there yet.
    package static func add(_ folder: URL) {
        let path = RealPath.of(folder.path)
        places.withLock { _ = $0.insert(path) }
    }

    /// Notes every folder directly in a folder, now and later.
    package static func add(eachIn folder: URL) {
        let path = RealPath.of(folder.path) + each
        places.withLock { _ = $0.insert(path) }
    }

    /// Whether a file lies in such a folder, or is a lock that lies beside one.
    package static func hold(_ file: URL) -> Bool {
        let folder = RealPath.of((file.path as NSString).deletingLastPathComponent) as NSString
        if isPlace(folder as String) { return true }
        let place = folder.appendingPathComponent(file.lastPathComponent) as NSString
        guard place.pathExtension == "lock" else { return false }
        // A folder's own lock has its name, and that of a thing in it the thing's name besides.
        let name = place.deletingPathExtension
        return isPlace(name) || isPlace((name as NSString).deletingPathExtension)
    }

    /// Whether a folder is a place of Cordon's state, or the parent of such places.
    package static func include(_ folder: URL) -> Bool {
        let path = RealPath.of(folder.path)
        return isPlace(path) || places.withLock { $0.contains(path + each) }
    }

    private static let each = "/*"

    private static func isPlace(_ path: String) -> Bool {
        let parent = (path as NSString).deletingLastPathComponent
        return places.withLock { $0.contains(path) || $0.contains(parent + each) }
    }
}
