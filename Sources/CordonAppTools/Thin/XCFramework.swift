import CordonBase
import Foundation

/// The libraries inside an xcframework and where each runs (TL-TH-08).
struct XCFramework {
    struct Library {
        let folder: URL
        let isSimulator: Bool
        let name: String
    }

    let libraries: [Library]
    private let url: URL

    init(_ url: URL) throws(AppToolsError) {
        self.url = url
        let info = try PropertyList(contentsOf: url.appendingPathComponent("Info.plist")).value
        guard let entries = info["AvailableLibraries"]?.array else {
            throw AppToolsError(.malformed, "lists no AvailableLibraries", at: url.path)
        }
        var found: [Library] = []
        for entry in entries {
            guard let name = entry["LibraryIdentifier"]?.string, !name.isEmpty, !name.hasSlash, name != ".",
                name != ".."
            else {
                throw AppToolsError(.malformed, "a library has no usable LibraryIdentifier", at: url.path)
            }
            found.append(
                Library(
                    folder: url.appendingPathComponent(name),
                    isSimulator: entry["SupportedPlatformVariant"]?.string == "simulator", name: name))
        }
        libraries = found
    }

    /// The Info.plist without the libraries that are not wanted, and with the processors that the others still have,
    /// by the library's name.
    func updated(
        keeping wanted: [Library], processors: [String: [String]]
    ) throws(AppToolsError) -> FileChange {
        let file = url.appendingPathComponent("Info.plist")
        let data = try InputFile.map(file)
        return try naming(file.path) { () throws(AppToolsError) in
            var editor = try PropertyListEditor(reading: data)
            for (index, library) in libraries.enumerated() {
                let path: [PropertyListPath] = ["AvailableLibraries", .index(index), "SupportedArchitectures"]
                guard let kept = processors[library.name], let listed = editor.value.part(at: path)?.strings else {
                    continue
                }
                let left = listed.filter(kept.contains)
                if left != listed { try editor.set(.array(left.map { .string($0) }), at: path) }
            }
            for index in libraries.indices.reversed()
            where !wanted.contains(where: { $0.name == libraries[index].name }) {
                try editor.remove(at: ["AvailableLibraries", .index(index)])
            }
            return FileChange(file, editor.data, inside: WriteBoundary(folder: url))
        }
    }
}
