internal import CordonBase
public import Foundation

/// The folders that a write may not leave, not even through a link: apps come from other people, and one of their
/// links may lead anywhere.
public struct WriteBoundary: Sendable {
    private static let bundles: Set<String> = ["app", "appex", "framework", "xcframework", "bundle"]

    private let folders: [URL]

    /// Takes a folder itself and the outermost bundle around it; for a file that bundle alone, and nil where there is
    /// none: a file that a person names may be a link.
    public init?(of url: URL) {
        let around = Self.outermostBundle(around: url).map { [$0] } ?? []
        folders = (InputFile.kind(of: url).isFolder ? [url] : []) + around
        if folders.isEmpty { return nil }
    }

    /// Takes a folder that may not exist yet, and the outermost bundle around it.
    public init(folder: URL) {
        folders = [folder] + (Self.outermostBundle(around: folder).map { [$0] } ?? [])
    }

    private static func outermostBundle(around url: URL) -> URL? {
        var found: URL?
        var folder = url.standardizedFileURL
        while folder.pathComponents.count > 1 {
            folder = folder.deletingLastPathComponent()
            if bundles.contains(folder.pathExtension) { found = folder }
        }
        return found
    }

    /// The place that a path leads to.
    /// - Throws: ``AppToolsError`` `refused` when that is outside one of the folders.
    func resolved(_ url: URL) throws(AppToolsError) -> URL {
        let target = try Self.target(of: url)
        for folder in folders {
            guard try target.path.lies(below: Self.target(of: folder).path) else {
                throw AppToolsError(
                    .refused, "a link leads out of \(folder.path), nothing is written there", at: url.path)
            }
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
            guard (try? FileManager.default.destinationOfSymbolicLink(atPath: present.path)) == nil else {
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
