import Foundation

extension URL {
    /// Whether a file with contents lies here: neither a folder nor a pipe, which would be waited for.
    var isRegularFile: Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }
}
