import CordonBase
import Foundation

/// A code file the patcher may change, with what decides the path of the SDK from there (TL-FP-10).
struct PatchTarget {
    let url: URL
    /// The search paths of the app's main executable count for every image it loads.
    let outerRpaths: [String]
    /// From the executable's folder to the app's `Frameworks`.
    let frameworksFromExecutable: String
    /// The folder of the main executable that loads this code.
    let executableFolder: URL

    /// All targets of an app, an extension or a framework, or the one file given.
    static func all(_ url: URL, names: NamingProfile) throws(AppToolsError) -> [PatchTarget] {
        let place = InputFile.kind(of: url)
        guard place.exists else { throw AppToolsError(.missing, "does not exist", at: url.path) }
        let frameworks = "@executable_path/Frameworks"
        guard place.isFolder else {
            return [
                PatchTarget(
                    url: url, outerRpaths: [], frameworksFromExecutable: frameworks,
                    executableFolder: url.deletingLastPathComponent())
            ]
        }
        var seen: Set<[UInt8]> = [url.realBytes]
        return try targets(
            AppBundle(url), 0, outerRpaths: [], frameworks: frameworks, folder: url, root: url, names: names, &seen)
    }

    private static func targets(
        _ bundle: AppBundle, _ nesting: Int, outerRpaths: [String], frameworks: String, folder: URL, root: URL,
        names: NamingProfile, _ seen: inout Set<[UInt8]>
    ) throws(AppToolsError) -> [PatchTarget] {
        guard !isSDK(bundle.url, names) else { return [] }
        try AppBundle.checkNesting(nesting, of: bundle.url)
        var found: [PatchTarget] = []
        var inherited = outerRpaths
        func target(_ url: URL, _ rpaths: [String]) -> PatchTarget {
            PatchTarget(
                url: url, outerRpaths: rpaths, frameworksFromExecutable: frameworks, executableFolder: folder)
        }
        try bundle.checkExecutable()
        if let executable = bundle.executable {
            found.append(target(executable, outerRpaths))
            if bundle.kind != .framework { inherited += try rpaths(executable) }
        }
        let code = bundle.patchedCode(in: root, &seen)
        for library in code.libraries
        where !library.lastPathComponent.hasPrefix("libswift") && seen.insert(library.realBytes).inserted {
            found.append(target(library, inherited))
        }
        // All of them before what is in one: that may link to another, which is taken as the outer bundle loads it.
        let bundles = code.bundles.filter { !isSDK($0, names) && seen.insert($0.realBytes).inserted }
        for given in bundles {
            let place = given.place(in: root)
            // What a bundle is called says what it is.
            let inner = AppBundle.kind(of: place) == AppBundle.kind(of: given) ? place : given
            let nested = try AppBundle(inner)
            let isExtension = nested.kind == .appExtension
            let depth = inner.standardizedFileURL.pathComponents.count - root.standardizedFileURL.pathComponents.count
            let up = String(repeating: "../", count: max(0, depth))
            found += try targets(
                nested, nesting + 1, outerRpaths: isExtension ? [] : inherited,
                frameworks: isExtension ? "@executable_path/\(up)Frameworks" : frameworks,
                folder: isExtension ? inner : folder, root: root, names: names, &seen)
        }
        return found
    }

    private static func isSDK(_ bundle: URL, _ names: NamingProfile) -> Bool {
        names.linkedFrameworks.contains(bundle.deletingPathExtension().lastPathComponent)
    }

    private static func rpaths(_ url: URL) throws(AppToolsError) -> [String] {
        let data = try InputFile.map(url)
        let file = try naming(url.path) { () throws(AppToolsError) in try MachOFile(data) }
        return Array(Set(file.slices.compactMap(\.image).flatMap(\.rpaths))).sorted()
    }

    /// How this image should name the SDK (TL-FP-20).
    func sdkPath(_ image: MachOImage, framework: String) -> String {
        let file = "\(framework).framework/\(framework)"
        let leadsThere = (image.rpaths + outerRpaths).contains { path in
            path == frameworksFromExecutable || path == frameworksFromExecutable + "/"
        }
        return (leadsThere ? "@rpath" : frameworksFromExecutable) + "/" + file
    }
}

extension URL {
    /// Where something in a folder lies itself, without links on the way; what lies outside stays as it is.
    fileprivate func place(in folder: URL) -> URL {
        resolvingSymlinksInPath().path.path(below: folder.resolvingSymlinksInPath().path)
            .map(folder.appendingPathComponent) ?? self
    }
}
