import CordonBase
import Crypto
import Foundation

/// The sealed list of a flat bundle's files (TL-MO-30, TL-MO-31).
struct CodeResources {
    /// Files as they will be once planned changes are written.
    struct Tree {
        let root: URL
        /// The root without links.
        private let place: URL
        /// Content that is planned, by standardised path.
        var planned: [String: [Data]]
        /// Files and folders that will be gone.
        var removed: [String]

        init(root: URL, planned: [String: [Data]], removed: [String] = []) {
            self.root = root
            self.planned = planned
            self.removed = removed
            place = root.resolvingSymlinksInPath()
        }

        /// Every file and link below the root, relative, ordered; the main executable and the seal itself left out. Names
        /// that differ in the form of Unicode alone are different files here, and equal as strings.
        /// - Throws: ``AppToolsError`` `missing` for a folder that cannot be read: what is in it would be left out.
        func files(executable: String?) throws(AppToolsError) -> [String] {
            let base = Array((place.path + "/").utf8)
            var found: Set<[UInt8]> = []
            // Files of a folder come one after the other, and following the links of a path takes the system many calls.
            var around: (folder: URL, path: String)?
            var unread: URL?
            let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) { place, _ in
                unread = place
                return false
            }
            while let url = walk?.nextObject() as? URL {
                guard InputFile.entry(at: url) != .folder else { continue }
                let parent = url.deletingLastPathComponent()
                let folder =
                    around.flatMap { $0.folder == parent ? $0.path : nil } ?? parent.resolvingSymlinksInPath().path
                    + "/"
                around = (parent, folder)
                let path = (folder + url.lastPathComponent).utf8
                if path.starts(with: base) { found.insert(Array(path.dropFirst(base.count))) }
            }
            if let unread { throw AppToolsError(.missing, "cannot be read", at: unread.path) }
            for path in planned.keys where path.utf8.starts(with: base) {
                found.insert(Array(path.utf8.dropFirst(base.count)))
            }
            let gone = removed.compactMap { $0.path(below: place.path) }
            return found.map { String(decoding: $0, as: UTF8.self) }.filter { path in
                path != executable && !path.lies(below: "_CodeSignature")
                    && !gone.contains { path == $0 || path.lies(below: $0) }
            }.sorted()
        }

        /// A path of which there are two that a device cannot tell apart.
        static func twin(in paths: [String]) -> String? {
            zip(paths, paths.dropFirst()).first { $0 == $1 }?.0
        }

        func content(_ path: String) throws(AppToolsError) -> [Data] {
            let url = place.appendingPathComponent(path)
            if let data = planned[url.path] { return data }
            return [try InputFile.map(url)]
        }

        func link(_ path: String) -> String? {
            let place = root.appendingPathComponent(path)
            // An error of Foundation for each of very many files takes long.
            guard InputFile.entry(at: place) == .link else { return nil }
            return try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)
        }
    }

    /// Whether a file may be missing: it belongs to a language other than the base one.
    static func isOptional(_ path: String) -> Bool {
        path.utf8.firstRange(of: ".lproj/".utf8) != nil && !path.lies(below: "Base.lproj")
    }

    private static func isVersionOfLanguage(_ path: String) -> Bool { path.hasSuffix(".lproj/locversion.plist") }

    /// Whether the newer list has the file at all.
    static func isSealed(_ path: String) -> Bool {
        path != "Info.plist" && path != "PkgInfo" && !isVersionOfLanguage(path)
            && path.pathSteps.last != ".DS_Store"
    }

    /// The seal as Apple's tools write it.
    static func generate(_ tree: Tree, executable: String?) throws(AppToolsError) -> Data {
        var old = PropertyListDictionary()
        var new = PropertyListDictionary()
        let files = try tree.files(executable: executable)
        if let twin = Tree.twin(in: files) {
            throw AppToolsError(
                .refused, "two files have this name in different forms of Unicode, which a device takes for one",
                at: tree.root.appendingPathComponent(twin).path)
        }
        for path in files where !isVersionOfLanguage(path) {
            if let target = tree.link(path) {
                if isSealed(path) { new[path] = .dictionary(["symlink": .string(target)]) }
                continue
            }
            let content = try tree.content(path)
            let optional = isOptional(path)
            let short = PropertyListValue.data(sha1(content))
            old[path] = optional ? .dictionary(["hash": short, "optional": .boolean(true)]) : short
            guard isSealed(path) else { continue }
            var entry: PropertyListDictionary = ["hash2": .data(sha256(content))]
            if optional { entry["optional"] = .boolean(true) }
            new[path] = .dictionary(entry)
        }
        let seal: PropertyListDictionary = [
            "files": .dictionary(old.sorted), "files2": .dictionary(new.sorted), "rules": .dictionary(rules),
            "rules2": .dictionary(rules2),
        ]
        return XMLPropertyListWriter().document(.dictionary(seal))
    }

    private static func rule(_ weight: Double, _ key: String? = nil) -> PropertyListValue {
        var entries = PropertyListDictionary()
        if let key { entries[key] = .boolean(true) }
        entries["weight"] = .real(weight)
        return .dictionary(entries)
    }

    private static let rules: PropertyListDictionary = [
        "^.*": .boolean(true), "^.*\\.lproj/": rule(1000, "optional"),
        "^.*\\.lproj/locversion.plist$": rule(1100, "omit"), "^Base\\.lproj/": rule(1010),
        "^version.plist$": .boolean(true),
    ]

    private static let rules2: PropertyListDictionary = [
        ".*\\.dSYM($|/)": rule(11), "^(.*/)?\\.DS_Store$": rule(2000, "omit"), "^.*": .boolean(true),
        "^.*\\.lproj/": rule(1000, "optional"), "^.*\\.lproj/locversion.plist$": rule(1100, "omit"),
        "^Base\\.lproj/": rule(1010), "^Info\\.plist$": rule(20, "omit"), "^PkgInfo$": rule(20, "omit"),
        "^embedded\\.provisionprofile$": rule(20), "^version\\.plist$": rule(20),
    ]

    static func sha1(_ pieces: [Data]) -> Data {
        var hash = Insecure.SHA1()
        for piece in pieces { hash.update(data: piece) }
        return Data(hash.finalize())
    }

    static func sha256(_ pieces: [Data]) -> Data {
        var hash = SHA256()
        for piece in pieces { hash.update(data: piece) }
        return Data(hash.finalize())
    }
}
