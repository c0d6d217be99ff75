import CoreFoundation
public import Foundation

/// The folder that a write may not leave, not even through a link: apps come from other people, and one of their links
/// may lead anywhere.
public struct WriteBoundary: Sendable {
    private static let bundles: Set<String> = ["app", "appex", "framework", "xcframework", "bundle"]

    private let folder: URL

    /// Takes a folder itself; for a file, the nearest bundle around it, and nothing where there is none: a file that is
    /// named by itself may be a link.
    public init?(of url: URL) {
        var folder = url
        if !InputFile.kind(of: url).isFolder {
            repeat {
                let outer = folder.deletingLastPathComponent()
                guard outer.path != folder.path else { return nil }
                folder = outer
            } while !Self.bundles.contains(folder.pathExtension)
        }
        self.folder = folder
    }

    /// Takes a folder that may not exist yet.
    public init(folder: URL) {
        self.folder = folder
    }

    /// The place that a path leads to.
    /// - Throws: ``AppToolsError`` `refused` when that is outside the folder.
    func resolved(_ url: URL) throws(AppToolsError) -> URL {
        let target = try Self.target(of: url)
        let root = try Self.target(of: folder).path
        guard target.path.hasPrefix(root == "/" ? root : root + "/") else {
            throw AppToolsError(.refused, "a link leads out of \(folder.path), nothing is written there", at: url.path)
        }
        return target
    }

    /// The place that a path leads to, links followed as far as the path exists.
    static func target(of url: URL) throws(AppToolsError) -> URL {
        var present = url.absoluteURL
        var missing: [String] = []
        while true {
            if let real = realpath(present.path, nil) {
                defer { free(real) }
                let base = URL(fileURLWithPath: String(cString: real))
                return missing.reversed().reduce(base) { $0.appendingPathComponent($1) }
            }
            var status = stat()
            guard lstat(present.path, &status) != 0 else {
                throw AppToolsError(.refused, "is a link that leads nowhere", at: url.path)
            }
            let outer = present.deletingLastPathComponent()
            guard outer.path != present.path else {
                throw AppToolsError(.unwritable, "has no place on disk", at: url.path)
            }
            missing.append(present.lastPathComponent)
            present = outer
        }
    }
}
