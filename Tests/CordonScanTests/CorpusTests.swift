import CordonScan
import Foundation
import Testing

/// Sources in the shape of real apps: each with its ways out marked by a comment, and a twin that guards them.
struct CorpusTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/scan")

    private static let names = ((try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? [])
        .filter { !$0.hasPrefix(".") && $0 != "README.md" }.sorted()

    /// The files of one side of a pair, by their names, and the places that are marked in them.
    private func read(_ name: String, _ side: String) throws -> (files: [String: String], marked: Set<String>) {
        let folder = Self.root.appending(path: "\(name)/\(side)")
        var (files, marked): ([String: String], Set<String>) = ([:], [])
        for entry in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = try String(contentsOf: folder.appending(path: entry), encoding: .utf8)
            let file = String(entry.dropLast(".txt".count))
            files[file] = text
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                guard let mark = line.range(of: "//! ") ?? line.range(of: "<!--! ") else { continue }
                let way = line[mark.upperBound...].prefix { $0.isLetter }
                marked.insert("\(file):\(number + 1): \(way)")
            }
        }
        return (files, marked)
    }

    private func found(_ files: [String: String]) throws -> Set<String> {
        let folder = try ScannedFolder(files)
        defer { folder.remove() }
        return Set(folder.scan().findings.filter { $0.severity > .note }.map { "\($0.path):\($0.line): \($0.way)" })
    }

    @Test func `the corpus has at least forty pairs, and every way out but those of networks stands in it`() throws {
        #expect(Self.names.count >= 40)
        let marked = try Self.names.reduce(into: Set<String>()) { ways, name in
            for mark in try read(name, "open").marked { ways.insert(String(mark.split(separator: " ").last ?? "")) }
        }
        let known = Set(SourceScan.ways.map(\.name))
        #expect(marked.isSubset(of: known))
        #expect(known.subtracting(marked) == ["intake"])
    }

    @Test(arguments: names) func `every planted way out is found, and nothing else`(_ name: String) throws {
        let (files, marked) = try read(name, "open")
        #expect(!marked.isEmpty)
        #expect(try found(files) == marked)
    }

    @Test(arguments: names) func `the guarded twin is quiet`(_ name: String) throws {
        #expect(try found(read(name, "guarded").files) == [])
    }
}
