import Foundation

/// Measures and says ratios.
enum Meter {
    /// CPU time of this process in nanoseconds per turn; the best of five runs.
    static func nanoseconds(_ turns: Int, _ work: (Int) -> Void) -> Double {
        var best = Double.infinity
        for _ in 0..<5 {
            let start = processTime()
            work(turns)
            best = min(best, Double(processTime() - start) / Double(turns))
        }
        return best
    }

    /// Prints a figure, with the most it may be.
    static func say(_ what: String, _ figure: String, _ value: Double, atMost most: Double? = nil) {
        var line = "{\"what\": \"\(what)\", \"\(figure)\": \((value * 1000).rounded() / 1000)"
        if let most { line += ", \"atMost\": \(most), \"met\": \(value <= most)" }
        print(line + "}")
    }

    /// The middle of an odd number of values.
    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func processTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
