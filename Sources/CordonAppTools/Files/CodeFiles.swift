import Foundation

/// Finds code files in a folder. Links are not followed, so the search stays inside the folder.
enum CodeFiles {
    /// Every regular file that begins like Mach-O code or a fat file, ordered by path.
    static func all(in folder: URL) -> [URL] {
        guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [] }
        var found: [URL] = []
        for case let url as URL in walk where InputFile.entry(at: url) == .file && isCode(url) { found.append(url) }
        return found.sorted { $0.path < $1.path }
    }

    /// The folders with a seal of their own that lie between a file and a root, the root included.
    static func sealedFolders(around file: URL, upTo root: URL) -> [String] {
        var folders: [String] = []
        var folder = file.deletingLastPathComponent()
        let top = root.standardizedFileURL.path
        while folder.standardizedFileURL.path.hasPrefix(top) {
            if InputFile.kind(of: folder.appendingPathComponent("_CodeSignature/CodeResources")).exists {
                folders.append(folder.path)
            }
            guard folder.path != folder.deletingLastPathComponent().path else { break }
            folder = folder.deletingLastPathComponent()
        }
        return folders
    }

    /// Whether a file holds an executable, a library, a bundle or their debug symbols, or begins like one and cannot be
    /// read; object files and archives are for linkers.
    static func isLoadable(_ url: URL) -> Bool {
        guard isCode(url), let data = try? InputFile.map(url) else { return false }
        guard let file = try? MachOFile(data) else { return true }
        return file.slices.contains { [2, 6, 8, 10].contains($0.image?.fileType) }
    }

    private static func isCode(_ url: URL) -> Bool {
        // Opening a pipe waits for its other end.
        guard InputFile.isRegular(url), let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        guard let head = try? handle.read(upToCount: 8), head.count == 8 else { return false }
        if MachOImage.isImage(head) { return true }
        // A Java class has its version, 45 or more, where a fat file has its number of slices.
        return MachOFile.mayBeMachO(head) && head[4...].prefix(3) == Data([0, 0, 0])
            && (1...44).contains(head[7])
    }
}
