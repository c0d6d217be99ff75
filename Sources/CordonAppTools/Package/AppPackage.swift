public import Foundation

/// What people hold in their hands, with the bundles in it that the tools work on: an app, an extension, a framework,
/// an `.xcframework`, an `.xcarchive` or an `.ipa`; or one code file.
///
/// An `.ipa` is unpacked to a folder of its own. ``save()`` writes it again, with the same entries, permissions, links
/// and order; ``close()`` removes the folder.
///
/// ```swift
/// let package = try AppPackage(opening: URL(fileURLWithPath: "Demo.ipa"))
/// defer { package.close() }
/// for bundle in package.bundles { try AtomicWriter.write(CodeSigner(options).plan(bundle).changes) }
/// try package.save()
/// ```
public struct AppPackage: Sendable {
    /// The bundles to work on, or the one file, ordered by path.
    public let bundles: [URL]

    private let url: URL
    private let unpacked: UnpackedArchive?

    /// Opens a package.
    ///
    /// - Parameters:
    ///   - url: A bundle, an archive or a file.
    ///   - folder: Where an archive gets a folder of its own to be unpacked in.
    ///   - progress: Is told how many of an archive's entries are unpacked, of how many.
    /// - Throws: ``AppToolsError`` `missing` when there is nothing, `malformed` or `unsupported` for what cannot be
    ///   read, `refused` for an archive that would do harm when it is unpacked.
    public init(
        opening url: URL, in folder: URL = FileManager.default.temporaryDirectory,
        progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(AppToolsError) {
        self.url = url
        let place = InputFile.kind(of: url)
        guard place.exists else { throw AppToolsError(.missing, "does not exist", at: url.path) }
        guard !place.isFolder else {
            unpacked = nil
            // What is found below a link would be nothing.
            let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)) != nil
            bundles = try Self.bundles(in: isLink ? url.resolvingSymlinksInPath() : url)
            return
        }
        guard Self.isArchive(url) else {
            unpacked = nil
            bundles = [url]
            return
        }
        let archive = try naming(url.path) { () throws(AppToolsError) in
            try UnpackedArchive(InputFile.map(url), in: folder, progress: progress)
        }
        do {
            bundles = try Self.apps(in: archive.folder.appendingPathComponent("Payload"), of: url)
        } catch {
            archive.remove()
            throw error
        }
        unpacked = archive
    }

    /// The one app, extension or framework in the package.
    /// - Throws: ``AppToolsError`` `usage` when there are several, or a code file instead.
    public func app() throws(AppToolsError) -> URL {
        guard let only = bundles.first, bundles.count == 1, AppBundle.kind(of: only) != nil else {
            throw AppToolsError(.usage, "does not hold exactly one app, extension or framework", at: url.path)
        }
        return only
    }

    /// The property lists of the extensions in the package that have an activation rule, ordered by path.
    public func activationRules() throws(AppToolsError) -> [URL] {
        var found: [URL] = []
        for bundle in bundles where AppBundle.kind(of: bundle) != nil {
            found += try AppBundle.insideOut(bundle, withCompanions: false).filter {
                $0.info["NSExtension"]?["NSExtensionAttributes"]?["NSExtensionActivationRule"] != nil
            }.map { $0.url.appendingPathComponent("Info.plist") }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// A path or a message as a person knows it: places in an unpacked archive begin with the archive's name.
    public func shown(_ text: String) -> String {
        guard let folder = unpacked?.folder.path else { return text }
        return text.replacingOccurrences(of: folder, with: url.path)
    }

    /// A finding with its place as a person knows it.
    public func shown(_ finding: Finding) -> Finding {
        Finding(shown(finding.path), finding.severity, finding.code, shown(finding.message))
    }

    /// Writes an `.ipa` anew when anything in it changed; folders have their changes already.
    /// - Throws: ``AppToolsError`` `unwritable`; the archive is as it was then.
    public func save() throws(AppToolsError) {
        guard let unpacked, let pieces = try unpacked.changedArchive() else { return }
        try AtomicWriter.write([FileChange(url, pieces: pieces)])
    }

    /// Removes what was unpacked. Nothing else may be done with the package afterwards.
    public func close() {
        unpacked?.remove()
    }

    /// Whether something is a bundle or an archive of bundles.
    public static func isPackage(_ url: URL) -> Bool {
        InputFile.kind(of: url).isFolder || isArchive(url)
    }

    /// Whether something is a zip archive, such as an `.ipa`, that is unpacked to be worked on.
    public static func isArchive(_ url: URL) -> Bool {
        guard InputFile.isRegular(url) else { return false }
        guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        // What is called an archive is read as one, so that damage is told as such.
        if url.pathExtension.lowercased() == "ipa" { return true }
        // An entry, or the end of an empty archive.
        let head = try? handle.read(upToCount: 4)
        return head == Data([0x50, 0x4B, 3, 4]) || head == Data([0x50, 0x4B, 5, 6])
    }

    private static func bundles(in url: URL) throws(AppToolsError) -> [URL] {
        switch url.pathExtension {
        case "xcarchive":
            let products = url.appendingPathComponent("Products")
            for (folder, kind) in [("Applications", "app"), ("Library/Frameworks", "framework")] {
                let found = entries(of: products.appendingPathComponent(folder)).filter { $0.pathExtension == kind }
                if !found.isEmpty { return try found.map(checked) }
            }
            throw AppToolsError(.malformed, "holds no app below Products/Applications", at: url.path)
        case "xcframework":
            let found = try XCFramework(url).libraries.flatMap { library in
                entries(of: library.folder).filter { ["framework", "dylib"].contains($0.pathExtension) }
            }.map(checked)
            guard !found.isEmpty else {
                throw AppToolsError(
                    .unsupported, "holds static libraries only, which an app's build links", at: url.path)
            }
            return found
        default: return [try checked(url)]
        }
    }

    private static func apps(in payload: URL, of archive: URL) throws(AppToolsError) -> [URL] {
        let apps = entries(of: payload).filter { $0.pathExtension == "app" }
        guard !apps.isEmpty else { throw AppToolsError(.malformed, "holds no Payload/NAME.app", at: archive.path) }
        return try apps.map(checked)
    }

    private static func checked(_ url: URL) throws(AppToolsError) -> URL {
        guard let kind = AppBundle.kind(of: url) else { return url }
        // What is found below a link would be nothing, and a seal that lists nothing would fit it.
        guard InputFile.entry(at: url) != .link else {
            throw AppToolsError(.refused, "is a link in the place of a bundle", at: url.path)
        }
        let isFlat = kind != .app && InputFile.kind(of: url.appendingPathComponent("Info.plist")).exists
        let mark = kind == .framework ? "Versions" : "Contents"
        guard isFlat || !InputFile.kind(of: url.appendingPathComponent(mark)).isFolder else {
            throw AppToolsError(.unsupported, "is a macOS bundle, which has \(mark)", at: url.path)
        }
        return url
    }

    private static func entries(of folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0) }
    }
}
