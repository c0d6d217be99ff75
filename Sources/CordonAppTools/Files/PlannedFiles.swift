import Foundation

/// The files of an app as they will be once planned changes are written.
struct PlannedFiles {
    /// By resolved path.
    let pieces: [String: [Data]]
    /// Files and folders that will be gone.
    let removed: [String]

    /// What is on disk, where nothing is planned.
    static let present = PlannedFiles([])

    init(_ changes: [FileChange], removing removed: [URL] = []) {
        self.removed = removed.map(Self.key)
        pieces = Dictionary(changes.map { (Self.key($0.url), $0.pieces) }, uniquingKeysWith: { $1 })
    }

    private static func key(_ url: URL) -> String { url.resolvingSymlinksInPath().path }

    func content(_ url: URL) throws(AppToolsError) -> Data {
        guard let planned = pieces[Self.key(url)] else { return try InputFile.map(url) }
        return planned.count == 1 ? planned[0] : planned.reduce(into: Data()) { $0 += $1 }
    }

    func contentIfPresent(_ url: URL) throws(AppToolsError) -> Data? {
        guard pieces[Self.key(url)] != nil || InputFile.kind(of: url).exists else { return nil }
        return try content(url)
    }
}
