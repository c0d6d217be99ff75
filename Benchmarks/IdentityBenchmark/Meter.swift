import Foundation

/// Measures and says ratios.
enum Meter {
    /// The CPU time of this process that work took, in seconds.
    static func seconds(_ work: () -> Void) -> Double {
        let start = clock()
        work()
        return Double(clock() - start) / Double(CLOCKS_PER_SEC)
    }

    /// Prints the median of a ratio and whether it meets its goal.
    static func say(_ what: String, _ ratios: [Double], atMost most: Double? = nil) {
        let sorted = ratios.sorted()
        guard let lowest = sorted.first, let highest = sorted.last else { return }
        let median = sorted[sorted.count / 2]
        let goal = most.map { ", \"atMost\": \($0), \"met\": \(median <= $0)" } ?? ""
        print(
            "{\"what\": \"\(what)\", \"ratio\": \(rounded(median))\(goal), \"lowest\": \(rounded(lowest)), \"highest\": \(rounded(highest))}"
        )
    }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }
}
