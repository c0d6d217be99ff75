import CordonScan
import Foundation

/// Lines per second of `cordon scan`, over the corpus of `Tests/Vectors/scan` as often as a large app has lines, and how that grows.
///
/// The exit status is 1 when a goal is missed.
@main
struct ScanBenchmark {
    /// Lines of one large app.
    private static let whole = 200_000
    private static let goal = 50_000.0

    static func main() throws {
        let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Tests/Vectors/scan")
        let sources = try sources(in: corpus)
        guard !sources.isEmpty else {
            print("skipped: \(corpus.path) has no sources")
            return
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-scan-benchmark-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (part, most) = (folder.appendingPathComponent("part"), folder.appendingPathComponent("whole"))
        try write(sources, lines: whole / 4, to: part)
        try write(sources, lines: whole, to: most)
        let (few, quick) = scan(part)
        let (many, slow) = scan(most)
        let rate = Double(many) / slow
        let growth = (slow / Double(many)) / (quick / Double(few))
        print("scan    \(many) lines in \(String(format: "%.2f", slow)) s, \(Int(rate)) lines a second")
        print("growth  time a line, \(many) lines against \(few): \(String(format: "%.2f", growth)) times")
        guard rate >= goal, growth <= 1.5 else {
            print("missed: at least \(Int(goal)) lines a second, and at most 1.5 times the time a line")
            exit(1)
        }
    }

    private static func sources(in corpus: URL) throws -> [(name: String, text: String)] {
        let paths = FileManager.default.enumerator(at: corpus, includingPropertiesForKeys: nil)
        let files = (paths?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "txt" }
        return try files.sorted { $0.path < $1.path }.map {
            (String($0.lastPathComponent.dropLast(4)), try String(contentsOf: $0, encoding: .utf8))
        }
    }

    private static func write(_ sources: [(name: String, text: String)], lines: Int, to folder: URL) throws {
        var (written, round) = (0, 0)
        while written < lines {
            for (number, source) in sources.enumerated() where written < lines {
                let place = folder.appendingPathComponent("\(round)/\(number)")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try Data(source.text.utf8).write(to: place.appendingPathComponent(source.name))
                written += source.text.count { $0.isNewline }
            }
            round += 1
        }
    }

    /// How many lines were read, and the best time of three.
    private static func scan(_ folder: URL) -> (lines: Int, seconds: Double) {
        var (lines, best) = (0, Double.infinity)
        for _ in 0..<3 {
            let clock = ContinuousClock()
            let time = clock.measure {
                lines = SourceScan(folder.path, options: SourceScan.Options(today: "2026-01-01")).run().lines
            }
            best = min(best, time / .seconds(1))
        }
        return (lines, best)
    }
}
