import CordonBase
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
    /// The name of the executable that has to be there and is not; a framework may hold resources alone.
    let missingExecutable: String?
    /// The code bundles directly inside: frameworks, extensions, Watch apps and App Clips.
    let nested: [URL]
    /// Code files that belong to no nested bundle, such as libraries in `Frameworks`.
    let looseCode: [URL]
    /// Links where the system looks for code, or in the place of such a folder, that lead to something in the app.
    private let links: [URL]

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
        let named = info["CFBundleExecutable"]?.string
        // Without the key the system takes the file that is named as the bundle is.
        let name = named ?? url.deletingPathExtension().lastPathComponent
        guard !name.hasSlash, name != "..", !name.isEmpty else {
            throw AppToolsError(.malformed, "CFBundleExecutable is not a file name", at: url.path)
        }
        let file = url.appendingPathComponent(name)
        // Devices find it by either form of Unicode, and compared as text the two are equal.
        executable =
            InputFile.kind(of: file).exists
            ? file
            : Self.entries(url).first { $0.lastPathComponent == name && InputFile.kind(of: $0).exists }
        missingExecutable = executable == nil && (named != nil || kind != .framework) ? name : nil
        (nested, looseCode, links) = Self.contents(of: url, executable: executable)
    }

    /// Where patched code may lie (TL-FP-10).
    private static let patchedPlaces = ["Frameworks", "PlugIns", "Extensions"]
    /// Made and signed by the vendor of the system, or holding signatures and symbols instead of code.
    private static let foreignPlaces: Set<String> = ["_WatchKitStub", "_CodeSignature", "SC_Info", "dSYMs"]

    /// What patching looks at besides the executable: libraries directly in `Frameworks`, frameworks and extensions, also
    /// those that lie elsewhere in the app and are linked from there. Watch apps and App Clips are apps of their own
    /// (TL-FP-11).
    /// - Parameters:
    ///   - root: What is patched: an extension may link to code of the app around it.
    ///   - seen: Folders that were looked through. Links may lead to one in very many ways.
    func patchedCode(in root: URL, _ seen: inout Set<[UInt8]>) -> (libraries: [URL], bundles: [URL]) {
        var linked: [URL] = []
        let top = root.resolvingSymlinksInPath().path
        for link in links where (link.resolvingSymlinksInPath().path + "/").lies(below: top) {
            if !Self.isPlace(link) {
                linked.append(link)
            } else if seen.insert(link.realBytes + [UInt8(ascii: "/")]).inserted {
                linked += Self.entries(link).sorted { $0.path < $1.path }
            }
        }
        let libraries = looseCode + linked.filter(InputFile.isRegular)
        let bundles = nested + linked.filter { InputFile.kind(of: $0).isFolder }
        return (
            libraries.filter {
                $0.pathExtension == "dylib" && $0.deletingLastPathComponent().lastPathComponent == "Frameworks"
            },
            bundles.filter {
                [.framework, .appExtension].contains(Self.kind(of: $0)) && Self.isPlace($0.deletingLastPathComponent())
            }
        )
    }

    /// The apps inside: Watch apps and App Clips.
    var companions: [URL] { nested.filter { Self.kind(of: $0) == .app } }

    /// Extensions of Watch apps and their frameworks lie five deep. Every bundle around a file reads all of it again.
    private static let deepestNesting = 16

    /// This bundle and all code bundles in it, deepest first each once, with the apps inside or without.
    static func insideOut(_ url: URL, withCompanions: Bool = true) throws(AppToolsError) -> [AppBundle] {
        var seen: Set<[UInt8]> = []
        return try insideOut(url, withCompanions, 0, &seen)
    }

    private static func insideOut(
        _ url: URL, _ withCompanions: Bool, _ depth: Int, _ seen: inout Set<[UInt8]>
    ) throws(AppToolsError) -> [AppBundle] {
        try checkNesting(depth, of: url)
        guard seen.insert(url.realBytes).inserted else { return [] }
        let bundle = try AppBundle(url)
        var all: [AppBundle] = []
        for inner in bundle.nested where withCompanions || kind(of: inner) != .app {
            all += try insideOut(inner, withCompanions, depth + 1, &seen)
        }
        return all + [bundle]
    }

    /// - Throws: ``AppToolsError`` `malformed` for a bundle in as many others as no app has them.
    static func checkNesting(_ depth: Int, of url: URL) throws(AppToolsError) {
        guard depth < deepestNesting else {
            throw AppToolsError(.malformed, "lies in \(deepestNesting) other bundles of code or more", at: url.path)
        }
    }

    /// The app around an extension; nil for one that lies alone.
    static func container(of url: URL) -> AppBundle? {
        var folder = url.standardizedFileURL.deletingLastPathComponent()
        while folder.pathComponents.count > 1 {
            if kind(of: folder) == .app { return try? AppBundle(folder) }
            folder = folder.deletingLastPathComponent()
        }
        return nil
    }

    /// The outermost bundle with a property list around a file or a bundle; nil for what lies alone.
    static func outermost(around url: URL) -> URL? {
        var found: URL?
        var folder = url.standardizedFileURL.deletingLastPathComponent()
        while folder.pathComponents.count > 1 {
            if kind(of: folder) != nil, InputFile.kind(of: folder.appendingPathComponent("Info.plist")).exists {
                found = folder
            }
            folder = folder.deletingLastPathComponent()
        }
        return found
    }

    /// The code bundles directly inside, wherever they lie, and the code files that belong to none of them, both
    /// ordered by path. The executable is in neither. Links are followed only where the system looks for code, so that
    /// one that leads out of the app is refused and not passed over. What lies in the app is found in its own
    /// place, since links may lead to it in very many ways; such links are kept for patching.
    private static func contents(of url: URL, executable: URL?) -> (nested: [URL], code: [URL], links: [URL]) {
        guard let walk = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil) else {
            return ([], [], [])
        }
        let executable = executable?.standardizedFileURL
        let app = (outermost(around: url) ?? url).resolvingSymlinksInPath().path
        var nested: [URL] = []
        var code: [URL] = []
        var links: [URL] = []
        for case let item as URL in walk {
            guard let entry = InputFile.entry(at: item) else { continue }
            if entry == .link {
                let leadsInside = (item.resolvingSymlinksInPath().path + "/").lies(below: app)
                if leadsInside, isPlace(item) || kind(of: item) != nil { links.append(item) }
                guard !leadsInside || item.pathExtension == "dylib" else { continue }
                let linked = isPlace(item) ? entries(item) : [item]
                nested += linked.filter { kind(of: $0) != nil }
                code += linked.filter { $0.pathExtension == "dylib" }
            } else if entry != .folder {
                let isExecutable =
                    item.lastPathComponent == executable?.lastPathComponent
                    && item.standardizedFileURL.path == executable?.path
                if !isExecutable, CodeFiles.isLoadable(item) { code.append(item) }
            } else if foreignPlaces.contains(item.lastPathComponent) || item.pathExtension == "dSYM" {
                walk.skipDescendants()
            } else if kind(of: item) != nil, isBundle(item) {
                nested.append(item)
                walk.skipDescendants()
            }
        }
        let ordered = [nested, code, links].map { $0.sorted { $0.path < $1.path } }
        return (ordered[0], ordered[1], ordered[2])
    }

    /// - Throws: ``AppToolsError`` `malformed` when the bundle has to have an executable and has none.
    func checkExecutable() throws(AppToolsError) {
        guard let missingExecutable else { return }
        throw AppToolsError(.malformed, "has no executable: \(missingExecutable) is not there", at: url.path)
    }

    private static func isPlace(_ url: URL) -> Bool { patchedPlaces.contains(url.lastPathComponent) }

    private static func entries(_ folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.map { folder.appendingPathComponent($0) }
    }

    /// A folder that is only named like a bundle is one where the system looks for bundles.
    private static func isBundle(_ url: URL) -> Bool {
        isPlace(url.deletingLastPathComponent())
            || InputFile.kind(of: url.appendingPathComponent("Info.plist")).exists
    }
}

extension URL {
    /// The path without links, in bytes: disks may keep two spellings of an accent apart.
    var realBytes: [UInt8] { Array(resolvingSymlinksInPath().path.utf8) }
}
