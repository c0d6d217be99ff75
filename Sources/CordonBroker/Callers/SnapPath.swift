internal import CordonBase

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
        guard let root = roots.first(where: path.lies), let steps = path.path(below: root)?.pathSteps, steps.count > 2
        else { return nil }
        folder = "\(root)/\(steps[0])"
        revision = String(steps[1])
        rest = steps.dropFirst(2).joined(separator: "/")
        guard !steps[0].isEmpty, !revision.isEmpty, !rest.isEmpty else { return nil }
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
        return name.hasSlash || name == ".." || name == "." ? nil : name
    }
}
