import Foundation

/// A flat (iOS) bundle: an app, an extension or a framework, with the code bundles inside it.
struct AppBundle {
    enum Kind {
        case app, appExtension, framework
    }

    let url: URL
    let kind: Kind
    let info: PropertyListValue
    let identifier: String?
    let executable: URL?

    static func kind(of url: URL) -> Kind? {
        switch url.pathExtension {
        case "app": .app
        case "appex": .appExtension
        case "framework": .framework
        default: nil
        }
    }

    init(_ url: URL) throws(AppToolsError) {
        guard let kind = Self.kind(of: url) else {
            throw AppToolsError(.unsupported, "is not an app, an extension or a framework", at: url.path)
        }
        self.url = url
        self.kind = kind
        info = try PropertyList(contentsOf: url.appendingPathComponent("Info.plist")).value
        identifier = info["CFBundleIdentifier"]?.string
        if let name = info["CFBundleExecutable"]?.string {
            guard !name.contains("/"), name != "..", !name.isEmpty else {
                throw AppToolsError(.malformed, "CFBundleExecutable is not a file name", at: url.path)
            }
            let file = url.appendingPathComponent(name)
            executable = InputFile.kind(of: file).exists ? file : nil
        } else {
            executable = nil
        }
    }

    /// Loose libraries directly in `Frameworks`, ordered by name.
    var looseLibraries: [URL] {
        Self.entries(url.appendingPathComponent("Frameworks")).filter { $0.pathExtension == "dylib" }
    }

    /// Frameworks and extensions directly inside; `Watch` and `AppClips` are not looked into (TL-FP-11).
    var nested: [URL] {
        Self.entries(url.appendingPathComponent("Frameworks")).filter { $0.pathExtension == "framework" }
            + ["PlugIns", "Extensions"].flatMap { Self.entries(url.appendingPathComponent($0)) }
            .filter { $0.pathExtension == "appex" }
    }

    private static func entries(_ folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0) }
    }

    /// This bundle and all code bundles in it, deepest first.
    static func insideOut(_ url: URL) throws(AppToolsError) -> [AppBundle] {
        let bundle = try AppBundle(url)
        var all: [AppBundle] = []
        for inner in bundle.nested { all += try insideOut(inner) }
        return all + [bundle]
    }
}
