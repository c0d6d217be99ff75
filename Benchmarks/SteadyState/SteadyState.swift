import Foundation

/// Whether a process that does the same again and again holds no more memory and no more descriptors as time goes on (R18).
///
/// The first quarter fills caches and the allocator's pools. What counts is the least that the process held between two rounds, in the
/// second quarter and in the last: what a round needs while it runs falls out. Run with `MALLOC_ARENA_MAX=1`, for with a heap for each
/// thread what lies free in one of them is taken for held.
public struct SteadyState {
    private let process: Int32
    private let end: ContinuousClock.Instant
    private let quarter: Duration
    private var least: [Held] = []

    private struct Held {
        /// KiB.
        var resident: Int
        var descriptors: Int
        /// Bytes that the allocator has handed out; 0 if the process does not count them.
        var inUse: Int
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - seconds: How long the process is watched.
    ///   - process: The id of the process; this one unless said.
    public init(seconds: Int, process: Int32 = ProcessInfo.processInfo.processIdentifier) {
        self.process = process
        end = .now + .seconds(seconds)
        quarter = .seconds(max(4, seconds)) / 4
    }

    /// Whether the time is up.
    public var isOver: Bool { ContinuousClock.now >= end }

    /// Looks at what the process holds; called between two rounds.
    ///
    /// - Parameter inUse: Bytes that the process's allocator has handed out, if it counts them.
    /// - Throws: `CocoaError` when the process is gone, or the kernel does not say what it holds.
    public mutating func look(inUse: Int = 0) throws {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let resident = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw CocoaError(.fileReadCorruptFile) }
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        let part = min(3, max(0, 3 - Int((end - ContinuousClock.now) / quarter)))
        // A round may outlast a quarter, which then has no look of its own.
        while least.count <= part { least.append(Held(resident: .max, descriptors: .max, inUse: .max)) }
        least[part].resident = min(least[part].resident, resident)
        least[part].descriptors = min(least[part].descriptors, descriptors)
        least[part].inUse = min(least[part].inUse, inUse)
    }

    /// What was held, in words, and whether it stayed: no more than a hundredth of memory, and no descriptor.
    public var verdict: (text: String, isSteady: Bool) {
        guard least.count == 4, least[1].resident < .max else { return ("too short to tell", false) }
        let (early, late) = (least[1], least[3])
        func growth(_ value: KeyPath<Held, Int>) -> Double {
            Double(late[keyPath: value] - early[keyPath: value]) / Double(max(1, early[keyPath: value])) * 100
        }
        var text = "least of the second and the last quarter: \(early.resident) and \(late.resident) KiB resident"
        text += String(format: " (%.2f %%)", growth(\.resident))
        if late.inUse > 0 { text += ", \(early.inUse) and \(late.inUse) bytes in use" }
        text += ", \(early.descriptors) and \(late.descriptors) descriptors"
        return (text, growth(\.resident) <= 1 && growth(\.inUse) <= 1 && late.descriptors <= early.descriptors)
    }
}
