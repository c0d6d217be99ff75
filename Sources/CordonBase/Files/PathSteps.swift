/// Paths are taken apart by bytes, as the system does it: in a text, a slash and an accent behind it are one character, and
/// two spellings of an accent are equal.
extension String {
    /// Whether this is more than one step of a path.
    package var hasSlash: Bool { utf8.contains(UInt8(ascii: "/")) }

    /// What stands between the slashes, empty steps included.
    package var pathSteps: [Substring] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// Whether this path lies below a folder, `/` included.
    package func lies(below folder: String) -> Bool { utf8.starts(with: (folder == "/" ? folder : folder + "/").utf8) }

    /// What follows a folder in this path; nil for what does not lie below it.
    package func path(below folder: String) -> String? {
        guard lies(below: folder) else { return nil }
        return String(decoding: utf8.dropFirst(folder == "/" ? 1 : folder.utf8.count + 1), as: UTF8.self)
    }

    /// Whether a link at this path, with that text, leads out of the folder that the path begins in.
    package func isLinkOut(to target: String) -> Bool {
        guard target.utf8.first != UInt8(ascii: "/") else { return true }
        var depth = pathSteps.count - 1
        for step in target.pathSteps where !step.isEmpty && step != "." {
            depth += step == ".." ? -1 : 1
            if depth < 0 { return true }
        }
        return false
    }
}
