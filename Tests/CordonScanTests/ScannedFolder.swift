import CordonScan
import CordonTestSupport
import Foundation

/// A folder of sources for one test, and what a scan finds in it.
struct ScannedFolder {
    let url: URL

    init(_ files: [String: String] = [:]) throws {
        url = try TemporaryFolder.make(inMemory: true)
        for (path, text) in files { try write(Data(text.utf8), path) }
    }

    func write(_ data: Data, _ path: String) throws {
        let place = url.appending(path: path)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: place)
    }

    func remove() { TemporaryFolder.remove(url) }

    func scan(_ change: (inout SourceScan.Options) -> Void = { _ in }) -> ScanReport {
        var options = SourceScan.Options(today: "2026-11-23")
        change(&options)
        return SourceScan(url.path, options: options).run()
    }

    /// What a scan finds in one Swift file: `line: way` for each.
    static func found(_ source: String, as name: String = "File.swift", beside files: [String: String] = [:]) throws
        -> [String]
    {
        let folder = try ScannedFolder(files.merging([name: source]) { $1 })
        defer { folder.remove() }
        return folder.scan().findings.filter { $0.path == name }.map { "\($0.line): \($0.way)" }
    }
}
