internal import CordonBase
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#endif

/// Finds the files of a project that a scan reads, each once, however links lead to it.
struct SourceTree {
    /// Paths relative to the folder, in order.
    private(set) var files: [(path: String, size: Int)] = []
    private(set) var unread: [ScanReport.Omission] = []
    private(set) var skipped: [ScanReport.Omission] = []

    private static let extensions: Set<String> = SourceFile.endingsOfC.union([
        "swift", "entitlements", "xib", "storyboard", "pbxproj", "xcconfig",
    ])
    /// What others made or a build made; shipped, but not to be mended here.
    private static let foreign: Set<String> = [
        "Pods", "Carthage", "DerivedData", "build", "node_modules", ".build", "SourcePackages",
    ]
    private static let foreignKinds: Set<String> = [
        "xcframework", "framework", "xcodeproj", "xcworkspace", "app", "appex", "xcassets", "xcarchive", "docc",
        "lproj-build",
    ]
    /// The largest file that is read; larger ones are made by programs.
    static let largest = 32 << 20

    private struct Place: Hashable {
        let device: UInt64
        let node: UInt64
    }

    private var seen: Set<Place> = []
    private let root: String
    private let readsDependencies: Bool

    init(_ root: String, dependencies: Bool) {
        self.root = root
        readsDependencies = dependencies
        walk()
        files.sort { $0.path < $1.path }
    }

    private mutating func walk() {
        guard let top = status(root) else {
            unread.append(ScanReport.Omission(path: root, reason: String(cString: strerror(errno))))
            return
        }
        guard top.isFolder else {
            let name = (root as NSString).lastPathComponent
            guard Self.wants(name, (name as NSString).pathExtension), top.isFile else {
                let reason = top.isFile ? "not a kind of file that the scan knows" : "not a regular file"
                unread.append(ScanReport.Omission(path: name, reason: reason))
                return
            }
            guard top.size <= Self.largest else {
                unread.append(ScanReport.Omission(path: name, reason: "larger than \(Self.largest >> 20) MiB"))
                return
            }
            files.append((name, top.size))
            return
        }
        seen.insert(top.place)
        var waiting = [""]
        while let folder = waiting.popLast() {
            let path = folder.isEmpty ? root : root + "/" + folder
            let names: [String]
            do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
                unread.append(
                    ScanReport.Omission(path: folder.isEmpty ? "." : folder, reason: "the folder cannot be listed"))
                continue
            }
            for name in names.sorted().reversed() where !name.hasPrefix(".") {
                visit(folder.isEmpty ? name : folder + "/" + name, name, &waiting)
            }
        }
    }

    private mutating func visit(_ path: String, _ name: String, _ waiting: inout [String]) {
        let kind = (name as NSString).pathExtension
        guard let status = status(root + "/" + path) else {
            if Self.wants(name, kind) {
                unread.append(
                    ScanReport.Omission(path: path, reason: "the link leads nowhere, or the file cannot be reached"))
            }
            return
        }
        if status.isFolder {
            if !readsDependencies, Self.foreign.contains(name) {
                skipped.append(
                    ScanReport.Omission(
                        path: path, reason: "dependencies and build products; --dependencies reads them"))
            } else if Self.foreignKinds.contains(kind) {
                // What builds make property lists of stands in the project.
                let settings = "project.pbxproj"
                if kind == "xcodeproj", self.status("\(root)/\(path)/\(settings)") != nil {
                    visit("\(path)/\(settings)", settings, &waiting)
                }
            } else if path.utf8.count > 3_000 {
                unread.append(ScanReport.Omission(path: String(path.prefix(200)) + "…", reason: "the path is too long"))
            } else if seen.insert(status.place).inserted {
                waiting.append(path)
            } else {
                skipped.append(ScanReport.Omission(path: path, reason: "a link to a folder that is read already"))
            }
        } else if Self.wants(name, kind) {
            guard status.isFile else {
                skipped.append(ScanReport.Omission(path: path, reason: "not a regular file"))
                return
            }
            guard status.size <= Self.largest else {
                unread.append(ScanReport.Omission(path: path, reason: "larger than \(Self.largest >> 20) MiB"))
                return
            }
            if seen.insert(status.place).inserted { files.append((path, status.size)) }
        }
    }

    private static func wants(_ name: String, _ kind: String) -> Bool {
        extensions.contains(kind.lowercased()) || InfoPropertyList.isNamed(name)
    }

    private struct Status {
        let isFolder: Bool
        let isFile: Bool
        let size: Int
        let place: Place
    }

    private func status(_ path: String) -> Status? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Status(
            isFolder: status.st_mode & S_IFMT == S_IFDIR, isFile: status.st_mode & S_IFMT == S_IFREG,
            size: Int(status.st_size),
            place: Place(
                device: UInt64(truncatingIfNeeded: status.st_dev), node: UInt64(truncatingIfNeeded: status.st_ino)))
    }
}
