import Foundation

/// What each thing costs at each size, kept in a file, so that sizes may be measured one run after the other.
struct GrowthTable: Codable {
    /// How a time may grow.
    enum Bound: String, Codable {
        /// By at most 1.3 from 10,000 registrations to the most.
        case growth
        /// By at most 2 from the fewest registrations to the most.
        case start
        /// At most twice the slowest hundredth of the check-ins that were made alone in turn with these.
        case beside
        /// Not bounded by itself.
        case none
    }

    /// What one thing costs at one size, in milliseconds.
    struct Row: Codable {
        var name: String
        var time: Double
        var bound: Bound
        /// What is measured beside other work: what it takes without that.
        var alone: Double?
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

    /// Forgets the rows that an earlier run has measured of a size.
    mutating func begin(_ size: Int) { sizes[size] = [] }

    /// Takes a row of a size, and keeps it in the file.
    mutating func add(_ row: Row, of size: Int) throws {
        sizes[size, default: []].append(row)
        try JSONEncoder().encode(self).write(to: file, options: .atomic)
    }

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
            for row in sizes[size] ?? [] where row.bound == .beside {
                guard let alone = row.alone, row.time > 2 * alone + Self.noise else { continue }
                misses.append(
                    String(
                        format: "%@ at %d: %.2f ms, %.1f times alone, bound 2", row.name, size, row.time,
                        row.time / alone))
            }
        }
        return misses
    }

    /// Prints all of it in Markdown: what things cost, and after that how slow check-ins are beside them.
    func print() {
        let all = sizes.keys.sorted()
        let head = "| " + all.map { $0.formatted(.number.locale(Locale(identifier: "en_US"))) }.joined(separator: " | ")
        let rule = "| --- |" + String(repeating: " ---: |", count: all.count)
        Swift.print("\nMilliseconds, by registrations of one app; SQLite on disk, every change synced.\n")
        Swift.print("| Work \(head) | growth |\n\(rule) ---: |")
        for row in last where row.alone == nil {
            let growth = growth(of: row).map { String(format: "%.2f", $0.ratio) } ?? ""
            Swift.print("| \(row.name) | " + cells(all) { self.row(row.name, at: $0)?.time } + " | \(growth) |")
        }
        Swift.print("\nThe slowest hundredth of check-ins beside each, times that of check-ins alone.\n")
        Swift.print("| Beside \(head) |\n\(rule)")
        for row in last where row.alone != nil {
            let name = row.name.replacing("check-in p99 beside: ", with: "")
            let ratios = cells(all) { size in
                self.row(row.name, at: size).flatMap { row in row.alone.map { row.time / max($0, 0.001) } }
            }
            Swift.print("| \(name) | \(ratios) |")
        }
        for miss in misses { Swift.print("\nmissed: \(miss)", terminator: "") }
        Swift.print(misses.isEmpty ? "\nEvery bound is met." : "")
    }

    private func cells(_ sizes: [Int], _ number: (Int) -> Double?) -> String {
        sizes.map { number($0).map { String(format: "%.2f", $0) } ?? "" }.joined(separator: " | ")
    }

    /// The rows of the most registrations.
    private var last: [Row] { sizes.keys.max().flatMap { sizes[$0] } ?? [] }

    private func row(_ name: String, at size: Int) -> Row? { sizes[size]?.first { $0.name == name } }

    /// From where the bound begins to the most registrations; nil where there is one size alone.
    private func growth(of row: Row) -> (ratio: Double, difference: Double)? {
        let from = row.bound == .start ? sizes.keys.min() : sizes.keys.filter { $0 >= 10_000 }.min()
        guard let from, let most = sizes.keys.max(), from < most, let before = self.row(row.name, at: from)?.time else {
            return nil
        }
        return (row.time / max(before, 0.001), row.time - before)
    }
}
