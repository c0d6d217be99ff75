package import Foundation

/// The folders in which this process keeps Cordon's state. Protecting a folder skips the files in them: a key, a record or a lock that was sealed opens
/// nothing any more.
///
/// A place is flat: files deeper down are the app's, and may be sealed. One list serves the process, because the code that protects files does not know
/// which stores the app has opened.
package enum StatePlaces {
    private static let places = Locked(Known())

    /// Notes a folder for good, which need not be there yet.
    package static func add(_ folder: URL) {
        let path = RealPath.of(folder.path)
        places.withLock { _ = $0.lasting.insert(path) }
    }

    /// Notes every folder directly in a folder for good, now and later.
    package static func add(eachIn folder: URL) {
        let path = RealPath.of(folder.path) + each
        places.withLock { _ = $0.lasting.insert(path) }
    }

    /// Notes the folders of a store that an app may make again and again, each time elsewhere. Two stores of one home note the same ones.
    package static func noting(_ folders: [URL]) -> Note { Note(folders.map { RealPath.of($0.path) }) }

    /// Folders that are noted while this lives, and until ``mostLeft`` others have gone after it: what a store leaves on the disk stays state.
    package final class Note: Sendable {
        private let paths: [String]

        fileprivate init(_ paths: [String]) {
            self.paths = paths
            places.withLock { $0.note(paths) }
        }

        deinit { places.withLock { [paths] in $0.leave(paths) } }
    }

    /// How many of the stores that have gone are remembered, so that a process that makes a store for each person who works with it grows no
    /// more.
    package static let mostLeft = 64

    /// What a process knows of places, as paths.
    struct Known {
        var lasting: Set<String> = []
        /// How many stores have noted a folder, those in ``left`` included.
        private var held: [String: Int] = [:]
        /// The folders of the stores that went last, each store's once; the last is the newest.
        private var left: [[String]] = []

        func contains(_ path: String) -> Bool { lasting.contains(path) || held[path] != nil }

        mutating func note(_ paths: [String]) {
            for path in paths { held[path, default: 0] += 1 }
        }

        mutating func leave(_ paths: [String]) {
            left.append(paths)
            let known = left.firstIndex(of: paths).flatMap { $0 < left.count - 1 ? $0 : nil }
            guard let gone = known ?? (left.count > mostLeft ? 0 : nil) else { return }
            for path in left.remove(at: gone) {
                held[path] = held[path].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
        }
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
