internal import CordonBase
public import Foundation

/// The template icons of an Open-In extension, made from an app's own icon (TL-IC).
public struct OpenInIcons: Sendable {
    /// The files to write: images, and a property list to merge into the extension's Info.plist.
    public let changes: [FileChange]

    /// Points and scale of each image.
    private static let sizes: [(name: String, pixels: Int)] = [
        ("OpenIn60x60@2x", 120), ("OpenIn60x60@3x", 180), ("OpenIn76x76@2x~ipad", 152),
        ("OpenIn83.5x83.5@2x~ipad", 167),
    ]

    /// Plans the icons.
    ///
    /// - Parameters:
    ///   - app: The built `.app` folder.
    ///   - output: Where the images go.
    ///   - icon: An image to use instead of the app's own.
    /// - Throws: ``AppToolsError`` `missing` when the app has no loose icon, `malformed` or `unsupported` for a bad image.
    public init(app: URL, output: URL, icon: URL? = nil) throws(AppToolsError) {
        let bundle = try AppBundle(app)
        let image: Bitmap
        if let icon { image = try Self.read(icon, PNGReader.read) } else { image = try Self.largest(bundle) }
        let name = bundle.info["CFBundleDisplayName"]?.string ?? bundle.info["CFBundleName"]?.string
        let initial = (name ?? app.lastPathComponent).first ?? "?"
        let boundary = WriteBoundary(folder: output)
        var changes = Self.sizes.map { (file, pixels) in
            FileChange(
                output.appendingPathComponent(file + ".png"),
                PNGWriter.write(TemplateImage.make(from: image, side: pixels, initial: initial)), inside: boundary)
        }
        changes.append(
            FileChange(output.appendingPathComponent("CFBundleIcons.plist"), Self.fragment, inside: boundary))
        self.changes = changes
    }

    /// Plans nothing but the property list that names a system symbol (TL-IC-08).
    public init(symbol: String, output: URL) {
        let icons: PropertyListValue = .dictionary(["CFBundleSymbolName": .string(symbol)])
        let fragment = XMLPropertyListWriter().document(
            .dictionary(["CFBundleIcons": .dictionary(["CFBundlePrimaryIcon": icons])]))
        changes = [
            FileChange(
                output.appendingPathComponent("CFBundleIcons.plist"), fragment, inside: WriteBoundary(folder: output))
        ]
    }

    private static let fragment: Data = {
        func icons(_ files: [String]) -> PropertyListValue {
            .dictionary(["CFBundlePrimaryIcon": .dictionary(["CFBundleIconFiles": .array(files.map { .string($0) })])])
        }
        return XMLPropertyListWriter().document(
            .dictionary([
                "CFBundleIcons": icons(["OpenIn60x60"]),
                "CFBundleIcons~ipad": icons(["OpenIn60x60", "OpenIn76x76", "OpenIn83.5x83.5"]),
            ]))
    }()

    private static func read<Value>(
        _ url: URL, _ work: (Data) throws(AppToolsError) -> Value
    ) throws(AppToolsError) -> Value {
        let data = try InputFile.map(url, limit: 64 << 20)
        return try naming(url.path) { () throws(AppToolsError) in try work(data) }
    }

    /// The largest of the files that the Info.plist names, in every spelling of scale and device (TL-IC-02).
    private static func largest(_ bundle: AppBundle) throws(AppToolsError) -> Bitmap {
        var names: [String] = []
        for key in ["CFBundleIcons", "CFBundleIcons~ipad"] {
            names += bundle.info[key]?["CFBundlePrimaryIcon"]?["CFBundleIconFiles"]?.strings ?? []
        }
        names += bundle.info["CFBundleIconFiles"]?.strings ?? []
        names += bundle.info["CFBundleIconFile"]?.string.map { [$0] } ?? []
        var best: (url: URL, width: Int)?
        var seen: Set<String> = []
        for name in names where !name.hasSlash && seen.insert(name).inserted {
            let stem = name.hasSuffix(".png") ? String(name.dropLast(4)) : name
            for scale in ["@3x", "@2x", ""] {
                for device in ["", "~ipad"] {
                    let url = bundle.url.appendingPathComponent(stem + scale + device + ".png")
                    guard InputFile.kind(of: url).exists else { continue }
                    let width = try read(url, PNGReader.width)
                    if width > best?.width ?? 0 { best = (url, width) }
                }
            }
        }
        if let best { return try read(best.url, PNGReader.read) }
        let hasCatalog = InputFile.kind(of: bundle.url.appendingPathComponent("Assets.car")).exists
        throw AppToolsError(
            .missing, hasCatalog ? "has its icon in Assets.car only" : "has no icon", at: bundle.url.path,
            hint: "give an image: --icon file.png")
    }
}
