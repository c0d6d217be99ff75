internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// One spelling for each place on the disk, however a path leads there.
package enum RealPath {
    /// A path without symbolic links, also where its end is not there yet.
    package static func of(_ path: String) -> String {
        if let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        let parent = (path as NSString).deletingLastPathComponent
        guard !parent.isEmpty, parent != path else { return path }
        return (of(parent) as NSString).appendingPathComponent((path as NSString).lastPathComponent)
    }
}
