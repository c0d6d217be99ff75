package import Foundation

/// The folders in which this process keeps state of Cordon's. What brings an app's folders in line with an owner leaves the files in them as they are: a
/// key, a record or a lock that was sealed opens nothing any more.
///
/// One list for the process, because what protects files knows nothing of the stores that an app has opened beside it.
package enum StatePlaces {
    private static let places = Locked<Set<String>>([])

    /// Notes a folder, which need not be there yet.
    package static func add(_ folder: URL) {
        let path = folder.resolvingSymlinksInPath().path
        places.withLock { _ = $0.insert(path) }
    }

    /// Whether a file lies in such a folder, at any depth, or is a lock that lies beside one.
    package static func hold(_ file: URL) -> Bool {
        let places = places.withLock { $0 }
        var place = file.resolvingSymlinksInPath().path as NSString
        if place.pathExtension == "lock" {
            // A folder's own lock has its name, and that of a thing in it the thing's name besides.
            let name = place.deletingPathExtension
            if places.contains(name) || places.contains((name as NSString).deletingPathExtension) { return true }
        }
        while place.length > 1 {
            place = place.deletingLastPathComponent as NSString
            if places.contains(place as String) { return true }
        }
        return false
    }
}
