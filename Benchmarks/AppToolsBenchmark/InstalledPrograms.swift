import Foundation

/// The programs on the path, some of which carry their version at the end of the name, such as `llvm-lipo-19`.
struct InstalledPrograms {
    private let folders: [String]

    /// The programs in folders that are separated by colons.
    init(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") {
        folders = path.split(separator: ":").map(String.init)
    }

    /// Where programs that belong together are, all of one version, the newest that has them all; those without a version
    /// in their names come last. Nil when no version has them all.
    func newest(_ names: [String]) -> [String]? {
        let numbered = versions(of: names[0]).sorted(by: >).map { "-\($0)" }
        for suffix in numbered + [""] {
            let found = names.compactMap { place(of: $0 + suffix) }
            if found.count == names.count { return found }
        }
        return nil
    }

    private func versions(of name: String) -> Set<Int> {
        let files = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
        return Set(files.filter { $0.hasPrefix(name + "-") }.compactMap { Int($0.dropFirst(name.count + 1)) })
    }

    private func place(of name: String) -> String? {
        folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile(atPath:))
    }
}
