import CordonBase
import Foundation
import Synchronization

/// Measures and says ratios.
enum Meter {
    /// The CPU time of this process that work took.
    static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = processTime()
        try work()
        return processTime() - start
    }

    /// The CPU time of this process that asynchronous work took.
    static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = processTime()
        try await work()
        return processTime() - start
    }

    /// The wall time that work took.
    static func elapsed(_ work: () throws -> Void) rethrows -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        try work()
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    /// The CPU time of a program that runs to its end, with its text as input; nil when it is missing or fails.
    ///
    /// The text is in a file: a pipe to a program that is missing, or that ends before it has read everything, would end this
    /// one by SIGPIPE.
    static func seconds(of program: String, _ arguments: [String], input: String = "") -> Double? {
        let text = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-input-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: text) }
        guard (try? Data(input.utf8).write(to: text)) != nil, let reading = try? FileHandle(forReadingFrom: text) else {
            return nil
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = reading
        let before = childTime()
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        return process.terminationStatus == 0 ? childTime() - before : nil
    }

    /// Bytes of memory that are this process's alone; pages of program files, which the system may drop, not counted.
    static func ownMemory() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") })
        else { return 0 }
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// What missed its goal so far.
    static let missed = Mutex<[String]>([])

    /// Prints the median of a ratio and whether it meets its goal.
    static func say(_ what: String, _ ratios: [Double], atLeast least: Double? = nil, atMost most: Double? = nil) {
        let sorted = ratios.sorted()
        let median = sorted[sorted.count / 2]
        var line = "{\"what\": \"\(what)\", \"ratio\": \(rounded(median))"
        if let least { line += ", \"atLeast\": \(least), \"met\": \(median >= least)" }
        if let most { line += ", \"atMost\": \(most), \"met\": \(median <= most)" }
        if median < least ?? median || median > most ?? median { missed.withLock { $0.append(what) } }
        print(line + ", \"lowest\": \(rounded(sorted[0])), \"highest\": \(rounded(sorted[sorted.count - 1]))}")
    }

    /// The CPU time of every child that has ended.
    private static func childTime() -> Double {
        var usage = rusage()
        // RUSAGE_CHILDREN, which has another type on every system.
        getrusage(-1, &usage)
        let micro = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(micro) / 1e6
    }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

    private static func processTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}

/// A moment that an observer notes.
final class Moment: Sendable {
    private let nanoseconds = Mutex<UInt64>(0)
    var value: UInt64 { nanoseconds.withLock { $0 } }
    func set(_ value: UInt64) { nanoseconds.withLock { $0 = value } }
}
