import Foundation

/// What each thing costs at each size, kept in a file, so that sizes may be measured one run after the other.
struct GrowthTable: Codable {
    /// How a time may grow.
    enum Bound: String, Codable {
        /// By at most 1.3 from 10,000 registrations to the most.
        case growth
        /// By at most 2 from the fewest registrations to the most.
        case start
        /// At most twice the slowest hundredth of check-ins alone at the same size.
        case beside
        /// Not bounded by itself.
        case none
    }

    /// What one thing costs at one size, in milliseconds.
    struct Row: Codable {
        var name: String
        var time: Double
        var bound: Bound
    }

    /// A difference in milliseconds below which a growth tells of the machine rather than of the service.
    private static let noise = 0.5

    private var sizes: [Int: [Row]] = [:]
    private let file: URL

    /// The table of a folder, empty where nothing was measured in it.
    init(of folder: URL) throws {
        let file = folder.appending(path: "growth.json")
        guard FileManager.default.fileExists(atPath: file.path) else {
            self.file = file
            return
        }
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }

    /// Takes the rows of a size, in place of those of an earlier run.
    mutating func add(_ rows: [Row], of size: Int) { sizes[size] = rows }

    func save() throws { try JSONEncoder().encode(self).write(to: file, options: .atomic) }

    /// The bounds that are not met, as sentences.
    var misses: [String] {
        var misses: [String] = []
        for row in last {
            switch row.bound {
            case .growth, .start:
                let limit = row.bound == .start ? 2.0 : 1.3
                guard let growth = growth(of: row), growth.ratio > limit, growth.difference > Self.noise else {
                    continue
                }
                misses.append(String(format: "%@ grows by %.2f, bound %.1f", row.name, growth.ratio, limit))
            case .beside, .none: continue
            }
        }
        for size in sizes.keys.sorted() {
            guard let alone = time(of: "check-in, p99", at: size) else { continue }
            for row in sizes[size] ?? [] where row.bound == .beside && row.time > 2 * alone + Self.noise {
                misses.append(
                    String(
                        format: "%@ at %d: %.2f ms, %.1f times alone, bound 2", row.name, size, row.time,
                        row.time / alone))
            }
        }
        return misses
    }

    /// Prints all of it in Markdown.
    func print() {
        let all = sizes.keys.sorted()
        Swift.print("\nMilliseconds by registrations of one app; SQLite on disk, durable.\n")
        Swift.print("| | " + all.map(String.init).joined(separator: " | ") + " | growth |")
        Swift.print("| --- |" + String(repeating: " ---: |", count: all.count + 1))
        for row in last {
            let times = all.map { time(of: row.name, at: $0).map { String(format: "%.2f", $0) } ?? "" }
            let growth = growth(of: row).map { String(format: "%.2f", $0.ratio) } ?? ""
            Swift.print("| \(row.name) | " + times.joined(separator: " | ") + " | \(growth) |")
        }
        for miss in misses { Swift.print("\nmissed: \(miss)", terminator: "") }
        Swift.print(misses.isEmpty ? "\nEvery bound is met." : "")
    }

    /// The rows of the most registrations.
    private var last: [Row] { sizes.keys.max().flatMap { sizes[$0] } ?? [] }

    private func time(of name: String, at size: Int) -> Double? {
        sizes[size]?.first { $0.name == name }?.time
    }

    /// From where the bound begins to the most registrations; nil where there is one size alone.
    private func growth(of row: Row) -> (ratio: Double, difference: Double)? {
        let from = row.bound == .start ? sizes.keys.min() : sizes.keys.filter { $0 >= 10_000 }.min()
        guard let from, let most = sizes.keys.max(), from < most, let before = time(of: row.name, at: from) else {
            return nil
        }
        return (row.time / max(before, 0.001), row.time - before)
    }
}
