import CordonBase
import Foundation

/// Follows the library paths of an image as the loader would (TL-FP-20, TL-FP-33).
struct LibraryPaths {
    let target: PatchTarget
    let image: MachOImage
    /// The app: what lies beside it stays where it was built.
    let app: URL

    private static let weak: UInt32 = 0x8000_0018

    /// Paths that lead into the app and to nothing there. Weak libraries may be missing, and absolute paths are the
    /// system's.
    var missing: [String] {
        image.libraries.filter { library in
            library.command.kind != Self.weak && !resolves(library.path)
        }.map(\.path)
    }

    private func resolves(_ path: String) -> Bool {
        guard path.hasPrefix("@rpath/") else {
            guard let file = place(path) else { return true }
            return isFile(file)
        }
        let rest = path.dropFirst("@rpath/".count)
        return (image.rpaths + target.outerRpaths).contains { rpath in
            // A search path into the system may hold the library; only the device knows.
            guard let folder = place(rpath) else { return true }
            return isFile(folder.appendingPathComponent(String(rest)))
        }
    }

    private func place(_ path: String) -> URL? {
        let starts = [
            "@executable_path": target.executableFolder, "@loader_path": target.url.deletingLastPathComponent(),
        ]
        for (start, folder) in starts where path == start || path.hasPrefix(start + "/") {
            return folder.appendingPathComponent(String(path.dropFirst(start.count)))
        }
        return nil
    }

    private func isFile(_ url: URL) -> Bool {
        let place = url.standardizedFileURL.resolvingSymlinksInPath()
        let kind = InputFile.kind(of: place)
        return kind.exists && !kind.isFolder && place.path.lies(below: app.resolvingSymlinksInPath().path)
    }
}
