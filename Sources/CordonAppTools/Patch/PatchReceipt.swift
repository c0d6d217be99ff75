internal import CordonBase
public import Foundation

/// What a patched app looked like before, kept outside it, so that even new signatures can be undone to the byte (TL-FP-21).
public struct PatchReceipt: Codable, Sendable, Equatable {
    struct Block: Codable, Equatable {
        let offset: Int
        let bytes: Data
    }

    struct File: Codable, Equatable {
        /// Relative to the app, or empty for the one patched file.
        let path: String
        /// Nil when patching created the file.
        let originalSize: Int?
        let originalHash: Data?
        let patchedHash: Data
        /// The original bytes wherever they differ.
        let blocks: [Block]
    }

    /// What restoring does.
    public struct Restoration: Sendable {
        /// Files to write.
        public let changes: [FileChange]
        /// Files that patching had created.
        public let removals: [URL]
    }

    static let currentVersion = 1
    private static let blockSize = 4096

    let version: Int
    /// The name of what was patched; nil in receipts of earlier versions.
    let name: String?
    let files: [File]

    /// Notes the original bytes of everything that is about to change.
    /// - Throws: ``AppToolsError`` when an original cannot be read or a change lies outside the app.
    public init(before changes: [FileChange], in root: URL) throws(AppToolsError) {
        var files: [File] = []
        for change in changes where !change.isInPlace {
            let new = change.pieces.count == 1 ? change.pieces[0] : change.pieces.reduce(into: Data()) { $0 += $1 }
            let path = try Self.relative(change.url, to: root)
            let old = InputFile.kind(of: change.url).exists ? try InputFile.map(change.url) : nil
            files.append(
                File(
                    path: path, originalSize: old?.count, originalHash: old.map { CodeResources.sha256([$0]) },
                    patchedHash: CodeResources.sha256([new]), blocks: old.map { Self.blocks($0, new) } ?? []))
        }
        self.init(name: root.standardizedFileURL.lastPathComponent, files: files)
    }

    private init(name: String?, files: [File]) {
        version = Self.currentVersion
        self.name = name
        self.files = files
    }

    /// Reads a receipt.
    /// - Throws: ``AppToolsError`` `malformed` when it is none.
    public init(contentsOf url: URL) throws(AppToolsError) {
        let data = try InputFile.map(url, limit: 1 << 30)
        guard let receipt = try? JSONDecoder().decode(PatchReceipt.self, from: data),
            receipt.version == Self.currentVersion
        else { throw AppToolsError(.malformed, "is not a patch receipt", at: url.path) }
        self = receipt
    }

    /// The receipt as a file; it may not lie inside the app, whose seal it would break. What an earlier receipt at the place
    /// says of files that are still as its patch left them is kept.
    /// - Throws: ``AppToolsError`` `refused` when the place is inside the app, or has a receipt that would be lost.
    public func change(at url: URL, outside root: URL) throws(AppToolsError) -> FileChange {
        guard (try? Self.relative(url, to: root)) == nil else {
            throw AppToolsError(.refused, "the receipt must not lie inside the app", at: url.path)
        }
        var kept: [File] = []
        if let earlier = try? PatchReceipt(contentsOf: url), !earlier.files.isEmpty {
            kept = earlier.files.filter { file in
                guard let place = try? Self.place(of: file, in: root), let present = try? InputFile.map(place) else {
                    return false
                }
                return CodeResources.sha256([present]) == file.patchedHash
            }
            let again = Set(files.map(\.path))
            guard earlier.name ?? name == name, !kept.contains(where: { again.contains($0.path) }) else {
                throw AppToolsError(
                    .refused, "is the receipt of an earlier patch, whose original bytes would be lost", at: url.path,
                    hint: "name another file, or undo that patch first: --remove --receipt")
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(PatchReceipt(name: name, files: files + kept)) else {
            throw AppToolsError(.unwritable, "the receipt cannot be encoded", at: url.path)
        }
        return FileChange(url, data)
    }

    /// Plans to give every file its original bytes back.
    /// - Throws: ``AppToolsError`` `refused` when a file is not as patching left it.
    public func restoration(of root: URL) throws(AppToolsError) -> Restoration {
        var changes: [FileChange] = []
        var removals: [URL] = []
        let boundary = WriteBoundary(of: root)
        for file in files {
            let url = try Self.place(of: file, in: root)
            let present = try InputFile.map(url)
            guard CodeResources.sha256([present]) == file.patchedHash else {
                throw AppToolsError(.refused, "was changed after patching", at: url.path)
            }
            guard let size = file.originalSize else {
                _ = try boundary?.resolved(url)
                removals.append(url)
                continue
            }
            let original = try naming(url.path) { () throws(AppToolsError) in try Self.original(present, size, file) }
            changes.append(FileChange(url, original, inside: boundary))
        }
        return Restoration(changes: changes, removals: removals)
    }

    private static func place(of file: File, in root: URL) throws(AppToolsError) -> URL {
        guard file.path.utf8.first != UInt8(ascii: "/"), !file.path.pathSteps.contains("..") else {
            throw AppToolsError(.malformed, "the receipt names a file outside the app")
        }
        return file.path.isEmpty ? root : root.appendingPathComponent(file.path)
    }

    private static func original(_ present: Data, _ size: Int, _ file: File) throws(AppToolsError) -> Data {
        guard (0...8 << 30).contains(size) else {
            throw AppToolsError(.malformed, "the receipt's size is out of range")
        }
        var original = Data(present.prefix(size))
        for block in file.blocks {
            guard block.offset >= 0, block.offset <= original.count, block.bytes.count <= size - block.offset else {
                throw AppToolsError(.malformed, "the receipt names bytes outside the file")
            }
            let end = min(block.offset + block.bytes.count, original.count)
            original.replaceSubrange(block.offset..<end, with: block.bytes)
        }
        guard CodeResources.sha256([original]) == file.originalHash else {
            throw AppToolsError(.refused, "the receipt does not give the original back")
        }
        return original
    }

    private static func blocks(_ old: Data, _ new: Data) -> [Block] {
        stride(from: 0, to: old.count, by: blockSize).compactMap { offset in
            let before = old.dropFirst(offset).prefix(blockSize)
            return before == new.dropFirst(offset).prefix(blockSize).prefix(before.count)
                ? nil : Block(offset: offset, bytes: Data(before))
        }
    }

    private static func relative(_ url: URL, to root: URL) throws(AppToolsError) -> String {
        let path = url.standardizedFileURL.path
        let base = root.standardizedFileURL.path
        if path == base { return "" }
        guard let inner = path.path(below: base) else {
            throw AppToolsError(.refused, "lies outside the app", at: path)
        }
        return inner
    }
}
