#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file of a Snap: it lies below a folder for each revision, of which the system's administrator has the link `current` name the one in
/// force. An entry names the file by that link, so that it still fits after the next revision.
struct SnapPath {
    /// Where Snaps are mounted, by the system.
    static let usualRoots = ["/snap", "/var/lib/snapd/snap"]

    /// The Snap's folder.
    private let folder: String
    private let revision: String
    private let rest: String

    /// Reads a path; nil for one that is not below a Snap's revision, or `current`.
    init?(_ path: String, roots: [String]) {
        guard let root = roots.first(where: { path.hasPrefix($0 + "/") }) else { return nil }
        let parts = path.dropFirst(root.count + 1).split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        folder = "\(root)/\(parts[0])"
        revision = String(parts[1])
        rest = String(parts[2])
    }

    private static let link = "current"

    /// Whether the path leads by way of `current`.
    var isOfCurrent: Bool { revision == Self.link }

    /// The same file by way of `current`, whichever revision that names now.
    var ofCurrent: String { "\(folder)/\(Self.link)/\(rest)" }

    /// Whether the path's own revision is the one in force.
    var isInForce: Bool { inForce == revision }

    /// The file of the revision in force; nil where there is none.
    var resolved: String? { inForce.map { "\(folder)/\($0)/\(rest)" } }

    private var inForce: String? {
        var text = [CChar](repeating: 0, count: 256)
        let count = readlink("\(folder)/\(Self.link)", &text, text.count)
        guard count > 0, count < text.count else { return nil }
        let name = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.contains("/") || name == ".." || name == "." ? nil : name
    }
}
