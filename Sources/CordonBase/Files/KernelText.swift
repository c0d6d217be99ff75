internal import Foundation

/// Texts that the kernel makes when they are read, such as those below `/proc`.
///
/// They say that they have no length, and Foundation's `String(contentsOfFile:)` and `Data(contentsOf:)` then take the first page for
/// the whole. A list of a process's memory or groups is longer.
package enum KernelText {
    /// All of the text at a path; nil where it cannot be read or is not UTF-8.
    package static func contents(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.readToEnd() else { return nil }
        return String(bytes: bytes, encoding: .utf8)
    }
}
