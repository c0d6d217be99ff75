import CordonTestSupport
import Foundation

/// Who can write to an app's home: keeps copies of it, and puts parts of them back or removes parts of what is there.
///
/// Files are chosen by their folder first, so that a folder of one file is met as often as one of many. Names that are made under a key are
/// others in every run, so there the choice among files of one folder is, too.
struct HomeAttacker {
    /// How much of a home is put back or removed at once.
    enum Extent: String, CaseIterable { case file, folder, several, all }

    /// Where everything lies that is within reach.
    private let place: URL
    /// The folders there that are within reach.
    private let reach: [String]
    /// Older states, each all of it or some of its files, by their paths.
    private var copies: [[String: Data]] = []

    init(of place: URL, reach: [String]) {
        self.place = place
        self.reach = reach
    }

    /// Copies everything, or about half of the files.
    ///
    /// - Returns: What was done, for the list of steps.
    mutating func keepCopy(_ random: inout SeededGenerator) throws -> String {
        var files = try contents()
        let isWhole = Int.random(in: 0..<3, using: &random) > 0
        if !isWhole {
            for name in files.keys.sorted() where Bool.random(using: &random) { files[name] = nil }
        }
        copies.append(files)
        return "copy \(copies.count - 1) of \(isWhole ? "all" : "some"), \(files.count) files"
    }

    /// Puts something back from an older copy; what was made since in a folder that is put back is removed.
    ///
    /// - Returns: What was done, for the list of steps.
    func putBack(_ extent: Extent?, _ random: inout SeededGenerator) throws -> String {
        guard !copies.isEmpty else { return "nothing to put back" }
        let number = Int.random(in: 0..<copies.count, using: &random)
        let extent = extent ?? .allCases.randomElement(using: &random) ?? .file
        let chosen = Self.choose(extent, of: copies[number], &random)
        switch extent {
        case .file, .several: break
        case .folder: try remove(chosen.folder)
        case .all: for folder in reach { try empty(folder) }
        }
        let isInPlace = Bool.random(using: &random)
        for name in chosen.files { try write(copies[number][name] ?? Data(), to: name, inPlace: isInPlace) }
        return "from copy \(number) \(Self.told(extent, chosen))"
    }

    /// Removes something of what is there.
    ///
    /// - Returns: What was done, for the list of steps.
    func delete(_ random: inout SeededGenerator) throws -> String {
        let files = try contents()
        let extent = Extent.allCases.randomElement(using: &random) ?? .file
        let chosen = Self.choose(extent, of: files, &random)
        switch extent {
        case .file, .several: for name in chosen.files { try remove(name) }
        case .folder: try remove(chosen.folder)
        case .all: for folder in reach { try empty(folder) }
        }
        return "removed \(Self.told(extent, chosen))"
    }

    /// Everything within reach, by its path.
    private func contents() throws -> [String: Data] {
        try Self.files(in: place).filter { file in reach.contains { file.key.hasPrefix($0 + "/") } }
    }

    /// The regular files below a folder, by their paths there.
    static func files(in folder: URL) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: name)
            let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
            // A file that the app has just removed is none.
            guard facts?[.type] as? FileAttributeType == .typeRegular, let bytes = try? Data(contentsOf: file) else {
                continue
            }
            found[name] = bytes
        }
        return found
    }

    // MARK: Choosing

    private struct Choice {
        var folder = ""
        var files: [String] = []
    }

    private static func choose(
        _ extent: Extent, of files: [String: Data], _ random: inout SeededGenerator
    ) -> Choice {
        let names = files.keys.sorted()
        switch extent {
        case .file:
            guard let folder = folders(of: names).randomElement(using: &random) else { return Choice() }
            let inside = names.filter { parent(of: $0) == folder }
            return Choice(folder: folder, files: inside.randomElement(using: &random).map { [$0] } ?? [])
        case .folder:
            // Never the home itself, which is the app's to give.
            let folders = folders(of: names).filter { $0.contains("/") }
            guard let folder = folders.randomElement(using: &random) else { return Choice() }
            return Choice(folder: folder, files: names.filter { $0.hasPrefix(folder + "/") })
        case .several: return Choice(files: names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
        case .all: return Choice(files: names)
        }
    }

    private static func folders(of names: [String]) -> [String] { Set(names.map(parent)).sorted() }

    private static func parent(of name: String) -> String {
        name.split(separator: "/").dropLast().joined(separator: "/")
    }

    private static func told(_ extent: Extent, _ chosen: Choice) -> String {
        switch extent {
        case .file, .several: "\(chosen.files.count) of \(extent): \(chosen.files.joined(separator: ", "))"
        case .folder: "folder \(chosen.folder)"
        case .all: "all, \(chosen.files.count) files"
        }
    }

    // MARK: Writing

    private func write(_ bytes: Data, to name: String, inPlace: Bool) throws {
        let file = place.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try bytes.write(to: file, options: inPlace ? [] : .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    private func remove(_ name: String) throws {
        guard !name.isEmpty else { return }
        do { try FileManager.default.removeItem(at: place.appending(path: name)) } catch CocoaError.fileNoSuchFile {}
    }

    private func empty(_ folder: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: place.appending(path: folder).path)
        for name in names { try remove(folder + "/" + name) }
    }
}
