import CordonBase
import Foundation

/// What builds leave in an app's `Frameworks` and the store refuses there (TL-TH-10).
enum StoreLeftovers {
    private static let folders: Set<String> = ["Headers", "PrivateHeaders", "Modules"]
    private static let endings: Set<String> = ["swiftmodule", "xcframework", "a"]

    /// Everything superfluous in the frameworks of an app or of its extensions, outermost first, ordered by path.
    static func all(in root: URL) -> [URL] {
        let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.isDirectoryKey])
        let base = root.standardizedFileURL.path
        var found: [URL] = []
        while let url = walk?.nextObject() as? URL {
            let steps = url.standardizedFileURL.path.path(below: base)?.pathSteps.map(String.init) ?? []
            guard let name = steps.last, steps.dropLast().contains("Frameworks") || root.pathExtension == "framework",
                folders.contains(name) || endings.contains(url.pathExtension)
            else { continue }
            found.append(url)
            walk?.skipDescendants()
        }
        return found.sorted { $0.path < $1.path }
    }
}
